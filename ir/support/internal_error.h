// A broken invariant of Kiln's own. Rooms below the runtime throw it where going on would be a silent wrong answer; the
// runtime turns it into kiln::Error of kind internal. A user's mistake is never one.
#pragma once

#include <stdexcept>
#include <string>

namespace kiln::support {

class InternalError : public std::logic_error {
public:
    /// `where` names the pass or room, `what` the op and the invariant.
    InternalError(const std::string& where, const std::string& what)
        : std::logic_error("internal error in " + where + ": " + what) {}
};

}  // namespace kiln::support
