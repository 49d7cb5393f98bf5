#include "runtime/metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ir/text.h"
#include "runtime/backend.h"

namespace kiln::runtime {

namespace {

using Json = nlohmann::json;

Json to_json(ir::Scalar scalar) {
    return {std::string(ir::name(scalar.type)), scalar.bits};
}

ir::ScalarType scalar_type(const Json& json) {
    const auto type = ir::scalar_type_named(json.get<std::string>());
    if (!type) throw Json::other_error::create(501, "no such element type", &json);
    return *type;
}

ir::Scalar to_scalar(const Json& json) {
    return {scalar_type(json.at(0)), json.at(1).get<std::uint64_t>()};
}

Json to_json(const frontend::GenericValue& value) {
    if (const auto* type = std::get_if<ir::ScalarType>(&value)) return {{"type", std::string(ir::name(*type))}};
    if (const auto* scalar = std::get_if<ir::Scalar>(&value)) return {{"scalar", to_json(*scalar)}};
    return {{"function", std::get<frontend::FunctionName>(value).path}};
}

frontend::GenericValue to_generic(const Json& json) {
    if (json.contains("type")) return scalar_type(json["type"]);
    if (json.contains("scalar")) return to_scalar(json["scalar"]);
    return frontend::FunctionName{json.at("function").get<std::string>()};
}

Json to_json(const std::map<std::string, ir::Scalar>& scalars) {
    Json json = Json::object();
    for (const auto& [name, scalar] : scalars) json[name] = to_json(scalar);
    return json;
}

std::map<std::string, ir::Scalar> to_scalars(const Json& json) {
    std::map<std::string, ir::Scalar> scalars;
    for (const auto& [name, scalar] : json.items()) scalars[name] = to_scalar(scalar);
    return scalars;
}

Json to_json(const std::optional<double>& number) {
    return number ? Json(*number) : Json(nullptr);
}

std::optional<double> to_optional(const Json& json) {
    return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

Json work_to_json(const std::vector<std::vector<WorkTerm>>& work) {
    Json json = Json::array();
    for (const std::vector<WorkTerm>& phase : work) {
        json.push_back(Json::array());
        for (const WorkTerm& term : phase) json.back().push_back({term.elements, term.extents});
    }
    return json;
}

Json to_json(const BodyFacts& facts) {
    return {{"coarsest", facts.coarsest ? Json(std::string(ir::name(*facts.coarsest))) : Json(nullptr)},
            {"accumulator", std::string(ir::name(facts.accumulator))},
            {"fp8", facts.has_fp8_operands},
            {"extent", facts.static_extent},
            {"extents", facts.launch_extents},
            {"work", work_to_json(facts.work)}};
}

BodyFacts to_facts(const Json& json) {
    BodyFacts facts;
    if (!json.at("coarsest").is_null()) facts.coarsest = scalar_type(json["coarsest"]);
    facts.accumulator = scalar_type(json.at("accumulator"));
    facts.has_fp8_operands = json.at("fp8");
    facts.static_extent = json.at("extent");
    facts.launch_extents = json.at("extents").get<std::vector<std::uint32_t>>();
    for (const Json& phase : json.at("work")) {
        facts.work.emplace_back();
        for (const Json& term : phase) facts.work.back().push_back({term.at(0), term.at(1)});
    }
    return facts;
}

std::optional<ir::Kernel> parse_kernel(const std::string& text) {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    ir::Kernel kernel = ir::parse(sources, sources.add("cache entry", text), diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    return kernel;
}

/// Whether the places that the facts name are launch values of this kernel: verification indexes with them.
bool belong_together(const BodyFacts& facts, const ir::Kernel& kernel) {
    const std::size_t count = launch_values(kernel).size();
    const auto are_places = [&](const std::vector<std::uint32_t>& places) {
        return std::all_of(places.begin(), places.end(), [&](std::uint32_t place) { return place < count; });
    };
    if (facts.work.size() != kernel.phases.size() || !are_places(facts.launch_extents)) return false;
    return std::all_of(facts.work.begin(), facts.work.end(), [&](const std::vector<WorkTerm>& phase) {
        return std::all_of(phase.begin(), phase.end(), [&](const WorkTerm& term) { return are_places(term.extents); });
    });
}

}  // namespace

std::string encode(const RequestMetadata& metadata) {
    const frontend::Specialisation& specialisation = metadata.specialisation;
    Json generics = Json::object();
    for (const auto& [name, value] : specialisation.generics) generics[name] = to_json(value);
    const Json json = {{"kernel", ir::print(specialisation.kernel)},
                       {"generics", generics},
                       {"tunables", to_json(specialisation.tunables)},
                       {"reference", specialisation.reference},
                       {"relative", to_json(specialisation.relative_bound)},
                       {"absolute", to_json(specialisation.absolute_bound)},
                       {"defaults", to_json(specialisation.defaults)},
                       {"facts", to_json(metadata.facts)},
                       {"content", metadata.content_key}};
    return json.dump();
}

std::optional<RequestMetadata> decode_request(const std::string& text) {
    try {
        const Json json = Json::parse(text);
        RequestMetadata metadata;
        frontend::Specialisation& specialisation = metadata.specialisation;
        std::optional<ir::Kernel> kernel = parse_kernel(json.at("kernel"));
        if (!kernel) return std::nullopt;
        specialisation.kernel = std::move(*kernel);
        for (const auto& [name, value] : json.at("generics").items()) specialisation.generics[name] = to_generic(value);
        specialisation.tunables = to_scalars(json.at("tunables"));
        specialisation.reference = json.at("reference");
        specialisation.relative_bound = to_optional(json.at("relative"));
        specialisation.absolute_bound = to_optional(json.at("absolute"));
        specialisation.defaults = to_scalars(json.at("defaults"));
        metadata.facts = to_facts(json.at("facts"));
        if (!belong_together(metadata.facts, specialisation.kernel)) return std::nullopt;
        metadata.content_key = json.at("content");
        return metadata;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

std::string encode(const std::vector<PhaseEntry>& phases) {
    Json json = Json::array();
    for (const PhaseEntry& phase : phases) {
        json.push_back({phase.symbol, phase.values, phase.scratch_bytes, phase.threads, phase.shared_bytes});
    }
    return json.dump();
}

std::optional<std::vector<PhaseEntry>> decode_phases(const std::string& text) {
    try {
        std::vector<PhaseEntry> phases;
        for (const Json& phase : Json::parse(text)) {
            phases.push_back({phase.at(0), phase.at(1), phase.at(2), phase.at(3), phase.at(4)});
        }
        return phases;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

}  // namespace kiln::runtime
