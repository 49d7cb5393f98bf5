# Writes the .kiln files of FILES as a C++ source that defines runtime/standard_library.h. Run with cmake -P.
list(SORT FILES)
set(rows "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND rows "    Text{\"kiln/${name}\", R\"KILN(${text})KILN\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from library/*.kiln.
#include \"runtime/standard_library.h\"

namespace kiln::runtime {

namespace {

struct Text {
    std::string_view path;
    std::string_view text;
};
constexpr Text kTexts[] = {
${rows}};

}  // namespace

std::optional<std::string_view> standard_library_text(std::string_view path) {
    for (const Text& text : kTexts) {
        if (text.path == path) return text.text;
    }
    return std::nullopt;
}

std::vector<std::string_view> standard_library_paths() {
    std::vector<std::string_view> paths;
    for (const Text& text : kTexts) paths.push_back(text.path);
    return paths;
}

}  // namespace kiln::runtime
")
