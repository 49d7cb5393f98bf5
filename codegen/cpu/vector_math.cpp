// Methods: exponentials reduce to 2^n * e^r with |r| <= ln(2) / 2, logarithms to n * ln(2) + log(m) with m within a
// factor sqrt(2) of 1, sine and cosine to a quarter turn (in double, whose products with a 33-bit part of pi / 2 are
// exact), tanh and erf to an odd polynomial near 0 and to an exponential elsewhere. pow of floats goes through the
// logarithm and exponential of doubles.
//
// All coefficients are minimax polynomials found for these intervals with a Remez exchange in 60 digits, relative error
// weighted by the term's share in the result; the bound reached stands beside each.
#include "codegen/cpu/vector_math.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <bit>
#include <initializer_list>
#include <limits>
#include <vector>

#include "codegen/cpu/emit_support.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::cpu {
namespace {

using ir::OpKind;
using Coefficients = std::initializer_list<double>;

constexpr double kLog2E = 1.4426950408889634;
constexpr double kLog2EHigh = 1.4426946640014648, kLog2ELow = 3.768874985636099e-07;  // 20 bits, rest

/// What differs between float and double.
struct Format {
    int bits, fraction_bits, bias;
    double round_magic;            ///< 1.5 * 2^fraction_bits: added, it leaves the whole number in the low bits
    double smallest_normal, lift;  ///< lift = 2^lift_exponent makes denormals normal
    int lift_exponent;
    double ln2_high, ln2_low;  ///< ln2_high has so few bits that its product with an exponent is exact
};
constexpr Format kFloat{32, 23, 127, 0x1.8p23, 0x1p-126, 0x1p24, 24, 0.693359375, -0.00021219444005469057};
constexpr Format kDouble{64, 52, 1023, 0x1.8p52, 0x1p-1022, 0x1p54, 54, 0.6931467056274414, 4.7493250390316726e-07};

/// Emits the functions on float or double lanes.
class MathEmitter {
public:
    MathEmitter(const VectorOps& ops, bool is_double, unsigned lanes)
        : ops_(ops),
          builder_(ops.builder()),
          is_double_(is_double),
          lanes_(lanes),
          format_(is_double ? kDouble : kFloat) {
        type_ = lanes_of(is_double ? builder_.getDoubleTy() : builder_.getFloatTy());
        integer_ = lanes_of(builder_.getIntNTy(static_cast<unsigned>(format_.bits)));
    }

    llvm::Value* exp2(llvm::Value* x) {
        const bool fast = !is_double_ && (ops_.freedoms().flush || ops_.freedoms().approximate);
        const Limits limits = is_double_ ? Limits{-1075, 1024} : fast ? Limits{-126, 128} : Limits{-150, 128};
        llvm::Value* inside = clamp(x, limits);
        const Whole n = round(inside);
        llvm::Value* r = builder_.CreateFSub(inside, n.real);
        llvm::Value* power = multiply_add(r, exp2_polynomial(r, fast), 1);
        return fast ? scale_fast(power, n, x, limits) : scale(power, n);
    }

    llvm::Value* exp(llvm::Value* x) {
        const bool fast = !is_double_ && (ops_.freedoms().flush || ops_.freedoms().approximate);
        const Limits limits = is_double_ ? Limits{-746, 710}
                              : fast     ? Limits{-87.33654022216796875, 88.72283935546875}
                                         : Limits{-104, 89};
        llvm::Value* inside = clamp(x, limits);
        const Whole n = round(builder_.CreateFMul(inside, real(kLog2E)));
        llvm::Value* power = exp_reduced(inside, n, fast);
        return fast ? scale_fast(power, n, x, limits) : scale(power, n);
    }

    llvm::Value* log(llvm::Value* x) {
        const Parts parts = take_apart(x);
        llvm::Value* low = builder_.CreateFMul(parts.exponent, real(format_.ln2_low));
        llvm::Value* sum = nullptr;
        if (is_double_) {
            const DoubleLog part = double_log(parts.fraction);
            llvm::Value* tail = builder_.CreateFAdd(builder_.CreateFMul(part.s, part.inner), low);
            sum = builder_.CreateFSub(parts.fraction, builder_.CreateFSub(part.half_square, tail));
        } else {
            // 2^-27.8: (log(1 + f) - f) / f^2
            llvm::Value* curve =
                polynomial(parts.fraction, {-0.499999882, 0.333333257, -0.250015935, 0.200019822, -0.166088067,
                                            0.141814648, -0.132451096, 0.129079069, -0.0762070915});
            llvm::Value* square = builder_.CreateFMul(parts.fraction, parts.fraction);
            sum = builder_.CreateFAdd(parts.fraction, multiply_add(square, curve, low));
        }
        return log_edges(x, multiply_add(parts.exponent, real(format_.ln2_high), sum));
    }

    llvm::Value* log2(llvm::Value* x) {
        const Parts parts = take_apart(x);
        if (is_double_) return log_edges(x, double_log2(parts));
        // 2^-27.2: (log2(1 + f) - f * log2(e)) / f^2
        llvm::Value* curve =
            polynomial(parts.fraction, {-0.721347363, 0.480897982, -0.360695867, 0.288582814, -0.239644428, 0.204327599,
                                        -0.190589649, 0.187683879, -0.112873632});
        llvm::Value* square = builder_.CreateFMul(parts.fraction, parts.fraction);
        llvm::Value* sum = multiply_add(parts.fraction, real(kLog2E), builder_.CreateFMul(square, curve));
        return log_edges(x, builder_.CreateFAdd(parts.exponent, sum));
    }

    llvm::Value* rsqrt(llvm::Value* x) {
        return builder_.CreateFDiv(real(1), builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    }

    llvm::Value* tanh(llvm::Value* x) {
        llvm::Value* a = magnitude(x);
        llvm::Value* square = builder_.CreateFMul(a, a);
        // 2^-29.3 and 2^-62.6 on |x| <= 0.625: (tanh(x) - x) / x^3 in x^2
        llvm::Value* curve =
            is_double_
                ? polynomial(square, {-0.3333333333333333332, 0.13333333333333321486, -0.053968253968236785767,
                                      0.021869488535175509192, -0.0088632355008463408468, 0.0035921275228119203838,
                                      -0.0014558285402738584431, 0.00058998266920502182372, -0.00023889290500846263865,
                                      0.000096050349621990030523, -0.000037096784312677523698,
                                      0.000012225245626947998309, -2.4453689218555043563e-6})
                : polynomial(square,
                             {-0.333333332, 0.13333305, -0.0539595506, 0.0217709988, -0.00835001845, 0.00229895329});
        llvm::Value* small = multiply_add(builder_.CreateFMul(a, square), curve, a);
        llvm::Value* limit = real(is_double_ ? 40 : 20);
        llvm::Value* doubled = builder_.CreateFAdd(a, a);
        doubled = builder_.CreateSelect(builder_.CreateFCmpOGT(doubled, limit), limit, doubled);
        llvm::Value* power = exp_positive(doubled);
        llvm::Value* large =
            builder_.CreateFSub(real(1), builder_.CreateFDiv(real(2), builder_.CreateFAdd(power, real(1))));
        llvm::Value* near = builder_.CreateFCmpOLT(a, real(0.625));
        return keep_nan(x, with_sign_of(x, builder_.CreateSelect(near, small, large)));
    }

    /// Float lanes only.
    llvm::Value* erf(llvm::Value* x) {
        llvm::Value* a = magnitude(x);
        llvm::Value* square = builder_.CreateFMul(a, a);
        // 2^-31.2 on |x| <= 0.921875: erf(x) / x - 1 in x^2
        llvm::Value* curve = polynomial(square, {0.1283791671, -0.376126342, 0.112837016, -0.0268597019, 0.00520171542,
                                                 -0.000814979981, 8.39777338e-5});
        llvm::Value* small = multiply_add(a, curve, a);
        // 2^-34.8 absolute in erfc on 0.921875 ... 4, beyond which erf rounds to 1: log(erfc(x)) in x
        llvm::Value* inside = builder_.CreateSelect(builder_.CreateFCmpOGT(a, real(4)), real(4), a);
        llvm::Value* tail = polynomial(inside, {0.000164091051, -1.12945399, -0.633497494, -0.108071448, 0.0249423006,
                                                -0.00407678237, 0.000403755678, -1.55030011e-5, -4.3576457e-7});
        llvm::Value* large = builder_.CreateFSub(real(1), exp_positive(tail));
        llvm::Value* near = builder_.CreateFCmpOLT(a, real(0.921875));
        return keep_nan(x, with_sign_of(x, builder_.CreateSelect(near, small, large)));
    }

    /// Sine, or cosine, of float lanes below kLargestAngle; NaN or garbage beyond.
    llvm::Value* sine(llvm::Value* x, bool cosine) {
        const QuarterTurn turn = reduce_angle(x);
        llvm::Value* r = turn.angle;
        llvm::Value* square = builder_.CreateFMul(r, r);
        // 2^-35 and 2^-28.9 on |x| <= pi / 4: (sin(x) - x) / x^3 and (cos(x) - 1 + x^2 / 2) / x^4 in x^2
        llvm::Value* sine_curve = polynomial(square, {-0.166666667, 0.00833333187, -0.000198400827, 2.72493912e-6});
        llvm::Value* cosine_curve = polynomial(square, {0.0416666647, -0.00138883013, 2.45475361e-5});
        llvm::Value* sine_part = multiply_add(builder_.CreateFMul(r, square), sine_curve, r);
        llvm::Value* head = multiply_add(square, real(-0.5), real(1));
        llvm::Value* cosine_part = multiply_add(builder_.CreateFMul(square, square), cosine_curve, head);

        llvm::Value* quarter = cosine ? builder_.CreateAdd(turn.number, whole(1)) : turn.number;
        llvm::Value* odd = builder_.CreateICmpNE(builder_.CreateAnd(quarter, whole(1)), whole(0));
        llvm::Value* value = bits(builder_.CreateSelect(odd, cosine_part, sine_part));
        llvm::Value* sign = builder_.CreateShl(builder_.CreateAnd(quarter, whole(2)), 30);
        value = builder_.CreateBitCast(builder_.CreateXor(value, sign), type_);
        return cosine ? value : builder_.CreateSelect(builder_.CreateFCmpOEQ(x, real(0)), x, value);
    }
    static constexpr double kLargestAngle = 0x1p20;

    /// Float lanes only.
    llvm::Value* pow(llvm::Value* a, llvm::Value* b) {
        const ir::Freedoms strict;
        const VectorOps strict_ops(builder_, ops_.target(), strict);
        MathEmitter wide(strict_ops, true, lanes_);
        llvm::Value* base = builder_.CreateFPExt(magnitude(a), wide.type_);
        llvm::Value* exponent = builder_.CreateFPExt(b, wide.type_);
        llvm::Value* power = wide.exp2(builder_.CreateFMul(exponent, wide.log2(base)));
        llvm::Value* result = builder_.CreateFPTrunc(power, type_);

        llvm::Value* half = builder_.CreateFMul(b, real(0.5));
        const auto is_whole = [&](llvm::Value* value) {
            return builder_.CreateFCmpOEQ(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, value), value);
        };
        llvm::Value* b_whole = is_whole(b);
        llvm::Value* b_odd = builder_.CreateAnd(b_whole, builder_.CreateNot(is_whole(half)));
        llvm::Value* negative = builder_.CreateICmpSLT(bits(a), whole(0));
        llvm::Value* flipped =
            builder_.CreateSelect(builder_.CreateAnd(negative, b_odd), builder_.CreateFNeg(result), result);
        // A negative number has no real power but a whole one; -0 and -inf count as the limits of numbers.
        llvm::Value* finite_negative =
            builder_.CreateAnd(builder_.CreateFCmpOLT(a, real(0)), builder_.CreateFCmpOGT(a, infinity(true)));
        llvm::Value* imaginary = builder_.CreateAnd(finite_negative, builder_.CreateNot(b_whole));
        result = builder_.CreateSelect(imaginary, nan(), flipped);
        llvm::Value* endless = builder_.CreateFCmpOEQ(magnitude(b), infinity(false));
        llvm::Value* one = builder_.CreateAnd(endless, builder_.CreateFCmpOEQ(magnitude(a), real(1)));
        one = builder_.CreateOr(one, builder_.CreateFCmpOEQ(b, real(0)));
        one = builder_.CreateOr(one, builder_.CreateFCmpOEQ(a, real(1)));
        return builder_.CreateSelect(one, real(1), result);
    }

private:
    struct Limits {
        double low, high;
    };
    /// A rounded number, also as an integer of the same width.
    struct Whole {
        llvm::Value *real, *integer;
    };
    /// x = (1 + fraction) * 2^exponent.
    struct Parts {
        llvm::Value *fraction, *exponent;
    };
    struct QuarterTurn {
        llvm::Value *angle, *number;
    };
    struct DoubleLog {
        llvm::Value *half_square, *s, *inner;
    };

    llvm::Type* lanes_of(llvm::Type* scalar) const {
        return lanes_ == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes_);
    }
    llvm::Constant* real(double value) const { return llvm::ConstantFP::get(type_, value); }
    llvm::Constant* whole(std::int64_t value) const {
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - format_.bits);
        return llvm::ConstantInt::get(integer_, static_cast<std::uint64_t>(value) & mask);
    }
    llvm::Constant* infinity(bool negative) const { return llvm::ConstantFP::getInfinity(type_, negative); }
    llvm::Constant* nan() const { return llvm::ConstantFP::getQNaN(type_); }
    llvm::Value* bits(llvm::Value* value) const { return builder_.CreateBitCast(value, integer_); }
    llvm::Value* magnitude(llvm::Value* value) const {
        return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
    }
    llvm::Value* with_sign_of(llvm::Value* sign, llvm::Value* value) const {
        return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, value, sign);
    }
    llvm::Value* keep_nan(llvm::Value* x, llvm::Value* value) const {
        return builder_.CreateSelect(builder_.CreateFCmpUNO(x, x), builder_.CreateFAdd(x, x), value);
    }
    llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* c) const {
        return ops_.multiply_add(a, b, c);
    }
    llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, double c) const {
        return ops_.multiply_add(a, b, real(c));
    }

    /// Coefficients of the lowest power first.
    llvm::Value* polynomial(llvm::Value* x, Coefficients coefficients) const {
        llvm::Value* value = nullptr;
        for (auto next = std::rbegin(coefficients); next != std::rend(coefficients); ++next) {
            value = value ? multiply_add(value, x, *next) : real(*next);
        }
        return value;
    }

    /// NaN passes.
    llvm::Value* clamp(llvm::Value* x, Limits limits) const {
        x = builder_.CreateSelect(builder_.CreateFCmpOGT(x, real(limits.high)), real(limits.high), x);
        return builder_.CreateSelect(builder_.CreateFCmpOLT(x, real(limits.low)), real(limits.low), x);
    }

    Whole round(llvm::Value* x) const {
        llvm::Value* shifted = builder_.CreateFAdd(x, real(format_.round_magic));
        const std::uint64_t magic = is_double_ ? std::bit_cast<std::uint64_t>(kDouble.round_magic)
                                               : std::bit_cast<std::uint32_t>(static_cast<float>(kFloat.round_magic));
        llvm::Value* integer = builder_.CreateSub(bits(shifted), whole(static_cast<std::int64_t>(magic)));
        return {builder_.CreateFSub(shifted, real(format_.round_magic)), integer};
    }

    /// (2^r - 1) / r on |r| <= 0.5
    llvm::Value* exp2_polynomial(llvm::Value* r, bool fast) const {
        if (is_double_) {  // 2^-62.4
            return polynomial(r, {0.69314718055994530925, 0.24022650695910071224, 0.05550410866482162709,
                                  0.0096181291076284866713, 0.001333355814640645223, 0.00015403530393354641622,
                                  0.000015252733841580183972, 1.3215486823422820243e-6, 1.0178057075772005361e-7,
                                  7.0548914165187983269e-9, 4.4558200254165224807e-10, 2.573788821850814251e-11});
        }
        if (fast) return polynomial(r, {0.693147214, 0.24022236, 0.0555030896, 0.00967184455, 0.00134071436});  // 2^-23
        return polynomial(
            r, {0.693147188, 0.240226511, 0.0555035689, 0.00961803027, 0.00133909816, 0.000154699026});  // 2^-27
    }

    /// e^(x - n * ln(2))
    llvm::Value* exp_reduced(llvm::Value* x, const Whole& n, bool fast) const {
        llvm::Value* r = multiply_add(n.real, real(-format_.ln2_high), x);
        r = multiply_add(n.real, real(-format_.ln2_low), r);
        llvm::Value* curve = exp_polynomial(r, fast);
        return builder_.CreateFAdd(real(1), multiply_add(builder_.CreateFMul(r, r), curve, r));
    }

    /// (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2
    llvm::Value* exp_polynomial(llvm::Value* r, bool fast) const {
        if (is_double_) {  // 2^-59.3
            return polynomial(r, {0.49999999999999999997, 0.16666666666666670991, 0.041666666666666683742,
                                  0.0083333333333261348046, 0.0013888888888874434539, 0.00019841269874821688799,
                                  0.000024801587347255814024, 2.7557255398926736741e-6, 2.7557252991002839769e-7,
                                  2.5105217508571736591e-8, 2.092156367495148543e-9});
        }
        if (fast) return polynomial(r, {0.499991524, 0.166664584, 0.0418979035, 0.00837455579});  // 2^-23
        return polynomial(
            r, {0.500000001, 0.166666668, 0.0416664642, 0.00833328578, 0.00139337333, 0.000199077422});  // 2^-29.4
    }

    /// value * 2^n in two factors, so that a denormal result is rounded once and infinity is reached by overflow.
    llvm::Value* scale(llvm::Value* value, const Whole& n) const {
        llvm::Value* first = builder_.CreateAShr(n.integer, whole(1));
        llvm::Value* second = builder_.CreateSub(n.integer, first);
        return builder_.CreateFMul(builder_.CreateFMul(value, power_of_two(first)), power_of_two(second));
    }
    llvm::Value* power_of_two(llvm::Value* n) const {
        llvm::Value* exponent = builder_.CreateAdd(n, whole(format_.bias));
        return builder_.CreateBitCast(builder_.CreateShl(exponent, whole(format_.fraction_bits)), type_);
    }

    /// value * 2^n for results that are normal.
    llvm::Value* add_exponent(llvm::Value* value, const Whole& n) const {
        llvm::Value* exponent = builder_.CreateShl(n.integer, whole(format_.fraction_bits));
        return builder_.CreateBitCast(builder_.CreateAdd(bits(value), exponent), type_);
    }
    llvm::Value* scale_fast(llvm::Value* value, const Whole& n, llvm::Value* x, Limits limits) const {
        llvm::Value* result = add_exponent(value, n);
        result = builder_.CreateSelect(builder_.CreateFCmpOLT(x, real(limits.low)), real(0), result);
        result = builder_.CreateSelect(builder_.CreateFCmpOGE(x, real(limits.high)), infinity(false), result);
        return keep_nan(x, result);
    }

    /// e^x for results that are normal; a NaN gives anything.
    llvm::Value* exp_positive(llvm::Value* x) const {
        const Whole n = round(builder_.CreateFMul(x, real(kLog2E)));
        return add_exponent(exp_reduced(x, n, false), n);
    }

    Parts take_apart(llvm::Value* x) const {
        llvm::Value* is_small = builder_.CreateFCmpOLT(x, real(format_.smallest_normal));
        llvm::Value* normal = builder_.CreateSelect(is_small, builder_.CreateFMul(x, real(format_.lift)), x);
        // Counted from sqrt(1/2), the exponent field steps at sqrt(2) times a power of two.
        const std::int64_t root = is_double_ ? std::int64_t{0x3fe6a09e667f3bcd} : std::int64_t{0x3f3504f3};
        llvm::Value* offset = builder_.CreateSub(bits(normal), whole(root));
        llvm::Value* exponent = builder_.CreateAShr(offset, whole(format_.fraction_bits));
        llvm::Value* mask = whole((std::int64_t{1} << format_.fraction_bits) - 1);
        llvm::Value* significand = builder_.CreateAdd(builder_.CreateAnd(offset, mask), whole(root));
        llvm::Value* fraction = builder_.CreateFSub(builder_.CreateBitCast(significand, type_), real(1));
        llvm::Value* lifted = builder_.CreateSelect(is_small, whole(format_.lift_exponent), whole(0));
        exponent = builder_.CreateSub(exponent, lifted);
        return {fraction, builder_.CreateSIToFP(exponent, type_)};
    }

    llvm::Value* log_edges(llvm::Value* x, llvm::Value* value) const {
        value = builder_.CreateSelect(builder_.CreateFCmpOEQ(x, infinity(false)), x, value);
        value = builder_.CreateSelect(builder_.CreateFCmpOEQ(x, real(0)), infinity(true), value);
        return builder_.CreateSelect(builder_.CreateFCmpULT(x, real(0)), nan(), value);
    }

    /// log(1 + f) = f - half_square + s * inner, s = f / (2 + f). 2^-51.5 of a term below a hundredth.
    DoubleLog double_log(llvm::Value* f) const {
        llvm::Value* s = builder_.CreateFDiv(f, builder_.CreateFAdd(f, real(2)));
        llvm::Value* z = builder_.CreateFMul(s, s);
        llvm::Value* curve = polynomial(
            z, {0.66666666666666697309, 0.39999999999898391844, 0.28571428626423518385, 0.22222211068837020622,
                0.18182893513701061718, 0.15331587046631030031, 0.14617996479849945105});
        llvm::Value* half_square = builder_.CreateFMul(real(0.5), builder_.CreateFMul(f, f));
        return {half_square, s, multiply_add(z, curve, half_square)};
    }

    /// The leading part of the logarithm is cut to 21 bits, so that its product with the leading part of log2(e) is
    /// exact.
    llvm::Value* double_log2(const Parts& parts) const {
        const DoubleLog part = double_log(parts.fraction);
        llvm::Value* head = builder_.CreateFSub(parts.fraction, part.half_square);
        head = builder_.CreateBitCast(builder_.CreateAnd(bits(head), whole(~std::int64_t{0xffffffff})), type_);
        llvm::Value* rest = builder_.CreateFSub(builder_.CreateFSub(parts.fraction, head), part.half_square);
        rest = builder_.CreateFAdd(rest, builder_.CreateFMul(part.s, part.inner));
        llvm::Value* high = builder_.CreateFMul(head, real(kLog2EHigh));
        llvm::Value* low = builder_.CreateFAdd(builder_.CreateFMul(builder_.CreateFAdd(rest, head), real(kLog2ELow)),
                                               builder_.CreateFMul(rest, real(kLog2EHigh)));
        llvm::Value* sum = builder_.CreateFAdd(parts.exponent, high);
        low = builder_.CreateFAdd(low, builder_.CreateFAdd(builder_.CreateFSub(parts.exponent, sum), high));
        return builder_.CreateFAdd(low, sum);
    }

    /// x = angle + number * pi / 2, |angle| <= pi / 4.
    QuarterTurn reduce_angle(llvm::Value* x) const {
        MathEmitter wide(ops_, true, lanes_);
        llvm::Value* angle = builder_.CreateFPExt(x, wide.type_);
        const Whole number = wide.round(builder_.CreateFMul(angle, wide.real(0.6366197723675814)));
        // pi / 2 in 33 bits and the rest.
        angle = builder_.CreateFSub(angle, builder_.CreateFMul(number.real, wide.real(1.5707963267341256)));
        angle = builder_.CreateFSub(angle, builder_.CreateFMul(number.real, wide.real(6.077100506506192e-11)));
        return {builder_.CreateFPTrunc(angle, type_), builder_.CreateTrunc(number.integer, integer_)};
    }

    const VectorOps& ops_;
    llvm::IRBuilder<>& builder_;
    bool is_double_;
    unsigned lanes_;
    const Format& format_;
    llvm::Type* type_ = nullptr;
    llvm::Type* integer_ = nullptr;
};

[[noreturn]] void refuse(OpKind kind) {
    throw support::InternalError("vector_math",
                                 "'" + std::string(ir::info(kind).mnemonic) + "' is not implemented here");
}

/// Name of the mathematics library's function.
std::string library_name(OpKind kind, bool is_double) {
    return std::string(ir::info(kind).mnemonic) + (is_double ? "" : "f");
}

llvm::Value* call_library(llvm::IRBuilder<>& builder, OpKind kind, llvm::ArrayRef<llvm::Value*> arguments) {
    llvm::Type* type = arguments.front()->getType();
    const llvm::SmallVector<llvm::Type*, 2> parameters(arguments.size(), type);
    llvm::Module& module = *builder.GetInsertBlock()->getModule();
    const auto callee = module.getOrInsertFunction(library_name(kind, type->isDoubleTy()),
                                                   llvm::FunctionType::get(type, parameters, false));
    return builder.CreateCall(callee, arguments);
}

llvm::Value* lane_of(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::Value* lane) {
    return value->getType()->isVectorTy() ? builder.CreateExtractElement(value, lane) : value;
}

/// The library's function on the lanes where `wanted` holds (all if null), and `value` on the others.
llvm::Value* call_on_lanes(llvm::IRBuilder<>& builder, OpKind kind, llvm::ArrayRef<llvm::Value*> arguments,
                           llvm::Value* value, llvm::Value* wanted) {
    const unsigned lanes = VectorOps::lanes(value);
    const Values results =
        emit_loop(builder, builder.getInt64(0), builder.getInt64(lanes), 1, {value},
                  [&](llvm::Value* lane, llvm::ArrayRef<llvm::Value*> carried) -> Values {
                      const auto call = [&]() -> Values {
                          std::vector<llvm::Value*> scalars;
                          for (llvm::Value* argument : arguments) scalars.push_back(lane_of(builder, argument, lane));
                          llvm::Value* result = call_library(builder, kind, scalars);
                          return {lanes == 1 ? result : builder.CreateInsertElement(carried[0], result, lane)};
                      };
                      if (!wanted) return call();
                      return emit_if(builder, lane_of(builder, wanted, lane), call, [&] { return Values{carried[0]}; });
                  });
    return results.front();
}

/// The body of a function that is kept apart: of several lines of polynomials, or with a loop over lanes.
llvm::Value* outlined_body(const VectorOps& ops, OpKind kind, llvm::ArrayRef<llvm::Value*> arguments) {
    llvm::IRBuilder<>& builder = ops.builder();
    llvm::Value* x = arguments.front();
    const unsigned lanes = VectorOps::lanes(x);
    if (x->getType()->getScalarType()->isDoubleTy()) return call_on_lanes(builder, kind, arguments, x, nullptr);
    MathEmitter emitter(ops, false, lanes);
    if (kind == OpKind::Pow) return emitter.pow(x, arguments[1]);
    llvm::Value* value = emitter.sine(x, kind == OpKind::Cos);
    llvm::Value* size = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    llvm::Value* large = builder.CreateFCmpOGT(size, llvm::ConstantFP::get(x->getType(), MathEmitter::kLargestAngle));
    llvm::Value* any = lanes == 1 ? large : builder.CreateOrReduce(large);
    return emit_if(
               builder, any, [&] { return Values{call_on_lanes(builder, kind, arguments, value, large)}; },
               [&] { return Values{value}; })
        .front();
}

/// The internal function of an operation at a number of lanes, made on first use in a module.
llvm::Function* outlined(const VectorOps& ops, OpKind kind, llvm::Type* type, std::size_t operands) {
    llvm::IRBuilder<>& caller = ops.builder();
    llvm::Module& module = *caller.GetInsertBlock()->getModule();
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    const std::string name = "kiln." + library_name(kind, type->getScalarType()->isDoubleTy()) + "." +
                             std::to_string(vector ? vector->getNumElements() : 1);
    if (llvm::Function* existing = module.getFunction(name)) return existing;

    const llvm::SmallVector<llvm::Type*, 2> parameters(operands, type);
    auto* function = llvm::Function::Create(llvm::FunctionType::get(type, parameters, false),
                                            llvm::GlobalValue::InternalLinkage, name, module);
    set_target_attributes(*function, ops.target());
    function->addFnAttr(llvm::Attribute::NoInline);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", function));
    const VectorOps inner(builder, ops.target(), ops.freedoms());
    llvm::SmallVector<llvm::Value*, 2> arguments;
    for (llvm::Argument& argument : function->args()) arguments.push_back(&argument);
    builder.CreateRet(outlined_body(inner, kind, arguments));
    return function;
}

}  // namespace

llvm::Value* math_function(const VectorOps& ops, OpKind kind, std::span<llvm::Value* const> operands) {
    llvm::Value* x = operands.front();
    const bool is_double = x->getType()->getScalarType()->isDoubleTy();
    MathEmitter emitter(ops, is_double, VectorOps::lanes(x));
    const auto call = [&]() -> llvm::Value* {
        llvm::Function* function = outlined(ops, kind, x->getType(), operands.size());
        return ops.builder().CreateCall(function, llvm::ArrayRef<llvm::Value*>(operands.data(), operands.size()));
    };
    if (kind == OpKind::Exp) return emitter.exp(x);
    if (kind == OpKind::Exp2) return emitter.exp2(x);
    if (kind == OpKind::Log) return emitter.log(x);
    if (kind == OpKind::Log2) return emitter.log2(x);
    if (kind == OpKind::Rsqrt) return emitter.rsqrt(x);
    if (kind == OpKind::Tanh) return emitter.tanh(x);
    if (kind == OpKind::Erf) return is_double ? call() : emitter.erf(x);
    if (kind == OpKind::Sin || kind == OpKind::Cos || kind == OpKind::Pow) return call();
    refuse(kind);
}

}  // namespace kiln::codegen::cpu
