#include "run/column_text.h"

#include <algorithm>

namespace lowtide {

std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

std::string Clean(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return out;
}

std::string PadRight(std::string text, std::size_t width) {
  for (std::size_t n = Width(text); n < width; ++n) text += ' ';
  return text;
}

std::string Shorten(const std::string& text, std::size_t width) {
  if (Width(text) <= width) return text;
  std::size_t seen = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    if ((static_cast<unsigned char>(text[end]) & 0xc0U) != 0x80 && seen++ == width - 3) break;
    ++end;
  }
  return text.substr(0, end) + "...";
}

}  // namespace lowtide
