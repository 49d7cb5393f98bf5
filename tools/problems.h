// The problems that `tune` and `explain` work on: sizes with ranges, and files of captured launches.
#pragma once

#include <string>
#include <vector>

#include "autotune/search.h"
#include "runtime/capture.h"
#include "tools/request.h"

namespace kiln::tools {

/// Every assignment that one `--size` stands for: "M=512,N=64..256*2" is M=512,N=64 and M=512,N=128 and M=512,N=256;
/// "N=64..256+64" steps by 64. Throws Error(user).
std::vector<std::vector<std::string>> expand_sizes(const std::string& text);

/// "60", "60s", "1.5m", "2h" as seconds. Throws Error(user).
double parse_duration(const std::string& text);

/// "3/8", from 0. Throws Error(user).
autotune::Shard parse_shard(const std::string& text);

/// One launch for each assignment of `sizes`; without any, one with the sizes that the generics give.
std::vector<runtime::CapturedLaunch> launches_of(const KernelOptions& options, const std::vector<std::string>& sizes);

/// "gemm T=f32 K=512 M=512 N=512"
std::string title(const runtime::CapturedLaunch& launch);

}  // namespace kiln::tools
