// Text in columns of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lowtide {

// Control characters, which may come from names and commands, as spaces.
std::string Clean(std::string_view text);

// Code points, which is what the columns of our own texts are wide.
std::size_t Width(std::string_view text);

// With spaces up to `width` code points.
std::string PadRight(std::string text, std::size_t width);

// At most `width` code points (at least 3), "..." for the rest.
std::string Shorten(const std::string& text, std::size_t width);

}  // namespace lowtide
