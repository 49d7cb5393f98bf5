#include "runtime/capture.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "kiln/kiln.hpp"
#include "runtime/arguments.h"
#include "runtime/descriptor.h"

namespace kiln::runtime {

namespace {

using Json = nlohmann::json;

constexpr int kLineVersion = 1;
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// JSON has no infinities: these three are written as the language spells them.
Json number_json(const CapturedNumber& number) {
    if (const double* real = std::get_if<double>(&number); real != nullptr && !std::isfinite(*real)) {
        return std::isnan(*real) ? "nan" : *real > 0 ? "inf" : "-inf";
    }
    return std::visit([](auto value) { return Json(value); }, number);
}

CapturedNumber number_of(const Json& json) {
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_number()) return json.get<double>();
    const std::string text = json.get<std::string>();
    if (text != "nan" && text != "inf" && text != "-inf") throw std::invalid_argument("`" + text + "` is no number");
    return std::strtod(text.c_str(), nullptr);
}

Json to_json(const CapturedLaunch& launch, bool with_numbers) {
    Json tensors = Json::array();
    for (const CapturedTensor& tensor : launch.tensors) {
        tensors.push_back({{"name", tensor.name},
                           {"dtype", std::string(name(tensor.dtype))},
                           {"sizes", tensor.sizes},
                           {"strides", tensor.strides}});
    }
    Json json = {{"kiln_capture", kLineVersion}, {"file", launch.file},          {"identity", launch.identity},
                 {"kernel", launch.kernel},      {"device", launch.device},      {"generics", launch.generics},
                 {"tunables", launch.tunables},  {"tensors", std::move(tensors)}};
    if (with_numbers) {
        json["numbers"] = Json::object();
        for (const auto& [name, number] : launch.numbers) json["numbers"][name] = number_json(number);
    } else {
        json["numbers"] = Json::array();
        for (const auto& [name, number] : launch.numbers) json["numbers"].push_back(name);
    }
    return json;
}

CapturedTensor tensor_of(const Json& json) {
    CapturedTensor tensor;
    tensor.name = json.at("name").get<std::string>();
    const std::optional<ir::ScalarType> element = ir::scalar_type_named(json.at("dtype").get<std::string>());
    if (!element) throw std::invalid_argument("there is no element type " + json.at("dtype").get<std::string>());
    tensor.dtype = to_dtype(*element);
    tensor.sizes = json.at("sizes").get<std::vector<std::int64_t>>();
    tensor.strides = json.at("strides").get<std::vector<std::int64_t>>();
    const bool fits = tensor.sizes.size() == tensor.strides.size() && tensor.sizes.size() <= 8;
    if (!fits) throw std::invalid_argument("`" + tensor.name + "` has sizes and strides that do not fit each other");
    for (const std::int64_t size : tensor.sizes) {
        if (size < 0) throw std::invalid_argument("`" + tensor.name + "` has a negative size");
    }
    return tensor;
}

/// Equal for launches that differ in their numbers only.
std::string distinct_key(const CapturedLaunch& launch) {
    return dump(to_json(launch, false));
}

/// Where captured launches go.
class Capture {
public:
    void start(const std::string& path) {
        const std::lock_guard lock(mutex_);
        path_ = path;
        recorded_.clear();
        active_ = !path.empty();
    }

    bool is_active() const { return active_.load(std::memory_order_relaxed); }

    void record(const CapturedLaunch& launch) {
        const std::lock_guard lock(mutex_);
        if (!active_ || !recorded_.insert(distinct_key(launch)).second) return;
        const std::string line = to_line(launch) + "\n";
        // One write to a file opened for appending: lines of several processes do not mix.
        const Descriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
        const ssize_t written = file.number() < 0 ? -1 : ::write(file.number(), line.data(), line.size());
        if (written == static_cast<ssize_t>(line.size())) return;
        active_ = false;
        fmt::print(stderr, "kiln: warning: launches cannot be captured in {} ({}); capturing stops\n", path_,
                   written < 0 ? std::strerror(errno) : "the disk is full");
    }

private:
    std::mutex mutex_;
    std::atomic<bool> active_{false};
    std::string path_;
    std::set<std::string> recorded_;
};

/// Never destroyed: launches may come while the process ends.
Capture& capture_of_process() {
    static Capture* const capture = [] {
        auto* made = new Capture;
        if (const char* path = std::getenv("KILN_CAPTURE")) made->start(path);
        return made;
    }();
    return *capture;
}

}  // namespace

std::string to_line(const CapturedLaunch& launch) {
    return dump(to_json(launch, true));
}

std::optional<CapturedLaunch> parse_captured(std::string_view line, std::string& reason) {
    if (line.size() > kLongestLine) {
        reason = "the line is too long";
        return std::nullopt;
    }
    try {
        const Json json = Json::parse(line);
        if (!json.is_object() || !json.contains("kiln_capture")) {
            reason = "the line is no captured launch";
            return std::nullopt;
        }
        if (json.at("kiln_capture").get<int>() > kLineVersion) {
            reason = "the line is from a newer Kiln";
            return std::nullopt;
        }
        using Texts = std::map<std::string, std::string>;
        CapturedLaunch launch{json.at("file").get<std::string>(),
                              json.value("identity", ""),
                              json.at("kernel").get<std::string>(),
                              json.value("device", ""),
                              json.at("generics").get<Texts>(),
                              json.value("tunables", Texts()),
                              {},
                              {}};
        for (const Json& tensor : json.at("tensors")) launch.tensors.push_back(tensor_of(tensor));
        const Json numbers = json.value("numbers", Json::object());
        for (const auto& [name, number] : numbers.items()) launch.numbers[name] = number_of(number);
        return launch;
    } catch (const std::exception& error) {
        reason = error.what();
        return std::nullopt;
    }
}

std::optional<CaptureFile> read_capture(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return std::nullopt;
    CaptureFile file;
    std::set<std::string> seen;
    std::string line, reason;
    for (std::size_t number = 1; std::getline(stream, line); ++number) {
        if (line.empty()) continue;
        std::optional<CapturedLaunch> launch = parse_captured(line, reason);
        if (!launch) {
            file.problems.push_back(fmt::format("{}:{}: {}", path, number, reason));
        } else if (seen.insert(distinct_key(*launch)).second) {
            file.launches.push_back(std::move(*launch));
        }
    }
    if (stream.bad()) return std::nullopt;
    return file;
}

void start_capture(const std::string& path) {
    capture_of_process().start(path);
}
bool is_capturing() {
    return capture_of_process().is_active();
}
void record_launch(const CapturedLaunch& launch) {
    capture_of_process().record(launch);
}

}  // namespace kiln::runtime
