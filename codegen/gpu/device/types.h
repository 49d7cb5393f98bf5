// 16-bit floats and storage types are their bit patterns in registers.

using kiln_f16 = unsigned short;

using kiln_bf16 = unsigned short;

using kiln_f8e4m3 = unsigned char;

using kiln_f8e5m2 = unsigned char;

using kiln_f8e8m0 = unsigned char;

using kiln_f4e2m1 = unsigned char;

using kiln_i4 = unsigned char;

using kiln_u4 = unsigned char;
