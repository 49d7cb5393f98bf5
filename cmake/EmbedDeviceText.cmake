# Writes the files of FILES as a C++ source that defines codegen/gpu/device_text.h. Run with cmake -P.
list(SORT FILES)
set(rows "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"KILN(${text})KILN\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from codegen/gpu/device.
#include \"codegen/gpu/device_text.h\"

namespace kiln::codegen::gpu {

const std::vector<DeviceText>& device_texts() {
    static const std::vector<DeviceText> texts = {
${rows}    };
    return texts;
}

}  // namespace kiln::codegen::gpu
")
