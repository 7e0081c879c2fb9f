// The values of settings as users write them, and what they are told when they write anything else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace flor::core {

// All of them: nothing where the text is no such value.
std::optional<double> epsilon_from(const std::string& text);
std::optional<std::int64_t> every_from(const std::string& text);
std::optional<std::int64_t> keep_from(const std::string& text);  // "all" is 0
std::optional<std::string> materializer_from(const std::string& text);
std::optional<std::string> name_from(const std::string& text);
std::optional<double> seconds_from(const std::string& text);  // 0 or more

inline constexpr const char* what_epsilon_is =
    "the share of training time that recording may cost, a number above 0 such as 0.0667";
inline constexpr const char* what_every_is =
    "a number from 1, a checkpoint after every so many executions, or 0 for the adaptive policy";
inline constexpr const char* what_keep_is =
    "all, or a number from 1: of each kind the newest so many checkpoints are kept";
inline constexpr const char* what_materializer_is =
    "how checkpoints are written: inline, thread, fork, fork-batch or auto";
inline constexpr const char* what_name_is =
    "a name of letters, digits, '.', '_' and '-', 128 at most, the first a letter or digit";
inline constexpr const char* what_mtbf_is = "a time above 0, in seconds or with s, m, h or d such as 12h";

}  // namespace flor::core
