// What libkiln.so does when it is loaded. Nothing refers to this file, so that programs which link the rooms as static
// libraries leave it out and choose for themselves.
#include "autotune/launch_model.h"

namespace kiln::autotune {
namespace {

[[maybe_unused]] const bool model_is_installed = [] {
    install_launch_model();
    return true;
}();

}  // namespace
}  // namespace kiln::autotune
