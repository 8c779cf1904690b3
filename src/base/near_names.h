// What somebody may have meant by a name that is not there.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lowtide {

// How many letters to change, add, leave out or swap with their neighbour (the restricted
// Damerau-Levenshtein distance).
std::size_t EditDistance(std::string_view a, std::string_view b);

// At most six candidates that come near `text`, whatever the case: those that contain it (of two
// letters at least), then those at a distance of 2 at most, nearest first. A short text must come
// nearer: of three letters one may differ, of two none.
std::vector<std::string> NearNames(std::string_view text, std::span<const std::string> candidates);

// "did you mean a, b or c?"; empty where nothing comes near.
std::string DidYouMean(std::string_view text, std::span<const std::string> candidates);

}  // namespace lowtide
