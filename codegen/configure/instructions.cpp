#include "codegen/configure/instructions.h"

namespace kiln::codegen::configure {

using ir::OpKind;

double instructions(OpKind kind) {
    switch (kind) {
        case OpKind::Constant:
        case OpKind::Iota:
        case OpKind::Broadcast:
        case OpKind::Reshape:
        case OpKind::Permute:
        case OpKind::Extract:
        case OpKind::Bitcast:
            return 0;
        case OpKind::Add:
        case OpKind::Sub:
        case OpKind::Mul:
        case OpKind::Neg:
        case OpKind::And:
        case OpKind::Or:
        case OpKind::Xor:
        case OpKind::Not:
        case OpKind::Shl:
        case OpKind::Shr:
        case OpKind::LogicalAnd:
        case OpKind::LogicalOr:
        case OpKind::LogicalNot:
        case OpKind::Equal:
        case OpKind::NotEqual:
        case OpKind::Less:
        case OpKind::LessEqual:
        case OpKind::Greater:
        case OpKind::GreaterEqual:
        case OpKind::Abs:
        case OpKind::Fma:
        case OpKind::Select:
        case OpKind::IsNan:
        case OpKind::IsInf:
        case OpKind::Reduce:
        case OpKind::Convert:
        case OpKind::Join:
            return 1;
        case OpKind::Saturate:
        case OpKind::Min:
        case OpKind::Max:
        case OpKind::Minimum:
        case OpKind::Maximum:
        case OpKind::Floor:
        case OpKind::Ceil:
        case OpKind::Trunc:
        case OpKind::Round:
            return 3;
        case OpKind::Ilog2:
        case OpKind::Popcount:
        case OpKind::Clz:
            return 4;
        case OpKind::Div:
        case OpKind::Sqrt:
            return 16;
        case OpKind::Rem:
        case OpKind::CeilDiv:
        case OpKind::FloorDiv:
        case OpKind::Mod:
            return 40;
        case OpKind::Exp2:
            return 14;
        case OpKind::Exp:
            return 18;
        case OpKind::Rsqrt:
            return 12;
        case OpKind::Log:
        case OpKind::Log2:
            return 24;
        case OpKind::Sin:
        case OpKind::Cos:
        case OpKind::Tanh:
        case OpKind::Erf:
            return 36;
        case OpKind::Pow:
            return 60;
        case OpKind::Fold:
        case OpKind::Scan:
        case OpKind::Sort:
        case OpKind::Bincount:
        case OpKind::Atomic:
            return 64;  // element by element; a sort's length, which counts twice, no tunable changes
        case OpKind::Dot:
        case OpKind::View:
        case OpKind::Size:
        case OpKind::Load:
        case OpKind::Store:
        case OpKind::For:
        case OpKind::While:
        case OpKind::If:
        case OpKind::Yield:
        case OpKind::Units:
        case OpKind::Require:
        case OpKind::Print:
        case OpKind::Assert:
            return 0;  // counted by what they move, run or contain
    }
    return 0;
}

}  // namespace kiln::codegen::configure
