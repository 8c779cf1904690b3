// std::stable_sort without its temporary buffer, which libstdc++ 12 takes from a deprecated
// function that clang 19 refuses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace lowtide {

// Ascending by `key`; equal ones keep their order.
template <class T, class Key>
void SortStably(std::vector<T>& values, Key key) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const auto& key_a = std::invoke(key, values[a]);
    const auto& key_b = std::invoke(key, values[b]);
    return key_a < key_b || (!(key_b < key_a) && a < b);
  });
  std::vector<T> sorted;
  sorted.reserve(values.size());
  for (const std::size_t i : order) sorted.push_back(std::move(values[i]));
  values = std::move(sorted);
}

}  // namespace lowtide
