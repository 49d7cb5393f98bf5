// Kernels of tests, written in the text form.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "ir/text.h"
#include "ir/verify.h"

namespace kiln::test {

/// The kernel of a text that must be well formed.
inline ir::Kernel kernel_of(const std::string& text) {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    ir::Kernel kernel = ir::parse(sources, sources.add("test.ir", text), diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(sources));
    std::string violations;
    for (const std::string& violation : ir::verify(kernel)) violations += violation + "\n";
    REQUIRE_MESSAGE(violations.empty(), violations);
    return kernel;
}

/// The phase of a small kernel over `x: in f32<?>, y: out f32<?>, z: inout f32<?>, n: i64` whose program has offset
/// `%i`, a multiple of 4.
inline std::string small_kernel(const std::string& body) {
    return "kernel @k(%x: in f32<?>, %y: out f32<?>, %z: inout f32<?>, %n: i64) {\n"
           "  size %N = extent(%x, 0)\n"
           "  host {\n"
           "    %lo = constant 0 : i64\n"
           "    %step = constant 4 : i64\n"
           "  }\n"
           "  phase (%i in %lo .. %N by %step) {\n" +
           body +
           "  }\n"
           "}\n";
}

}  // namespace kiln::test
