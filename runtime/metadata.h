// What a cache entry says beside its code, as JSON text.
#pragma once

#include <optional>
#include <string>

#include "runtime/compiled_kernel.h"

namespace kiln::runtime {

/// Of a request: the specialisation without bodies, the facts of its bodies, and the content key of its code.
struct RequestMetadata {
    frontend::Specialisation specialisation;
    BodyFacts facts;
    std::string content_key;
};
std::string encode(const RequestMetadata& metadata);
/// Nothing if the text is not what encode() writes.
std::optional<RequestMetadata> decode_request(const std::string& text);

/// Of code: its phases.
std::string encode(const std::vector<PhaseEntry>& phases);
std::optional<std::vector<PhaseEntry>> decode_phases(const std::string& text);

}  // namespace kiln::runtime
