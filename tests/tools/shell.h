// The `kiln` program as its users meet it: run as a process, judged by exit code, JSON and messages.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace kiln::test {

using Json = nlohmann::json;

struct Outcome {
    int code = -1;
    std::string out, error;

    /// What it printed, as JSON; a failing test if it is none.
    Json json() const {
        Json json = Json::parse(out, nullptr, false);
        CHECK_MESSAGE(!json.is_discarded(), "no JSON: " << out << error);
        return json;
    }
};

/// A folder of its own, the files in it, and runs of `kiln` there.
class Shell {
public:
    std::string path(const std::string& name) const { return folder_.in(name); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }
    std::string read(const std::string& name) const {
        std::ifstream stream(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    Outcome kiln(const std::vector<std::string>& words, const std::vector<std::string>& environment = {},
                 uid_t user = 0) const {
        const pid_t child = ::fork();
        if (child == 0) execute(words, environment, user);
        Outcome outcome;
        int status = 0;
        ::waitpid(child, &status, 0);
        outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        outcome.out = read("out");
        outcome.error = read("err");
        return outcome;
    }

private:
    [[noreturn]] void execute(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                              uid_t user) const {
        for (const auto& [name, number] : {std::pair{"out", 1}, {"err", 2}}) {
            ::dup2(::open(path(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), number);
        }
        if (::chdir(folder_.path().c_str()) != 0 || (user != 0 && ::setuid(user) != 0)) ::_exit(126);
        for (const std::string& variable : environment) ::putenv(const_cast<char*>(variable.c_str()));
        std::vector<char*> list = {const_cast<char*>("kiln")};
        for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
        list.push_back(nullptr);
        ::execv(KILN_PROGRAM, list.data());
        ::_exit(127);
    }

    tests::TemporaryFolder folder_;
};

}  // namespace kiln::test
