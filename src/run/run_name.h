// What a run is called when nobody has said.
#pragma once

#include <span>
#include <string>

namespace lowtide {

// The name of what `command` trains: past runs are listed, and power curves kept, under it. Where a
// program only runs another (env, nice, torchrun, ...), the other's name; where it is an
// interpreter, the base name of its script, or the module of `python -m`; else the program's base
// name.
//   python3 -u src/train.py --lr 1     train.py
//   python -m pkg.train                pkg.train
//   torchrun --nproc-per-node 2 a.py   a.py
//   env SEED=1 nice -n 5 ./train       train
// A command that is inline (sh -c, python -c) or cannot be made out is called as its program.
std::string DefaultRunName(std::span<const std::string> command);

}  // namespace lowtide
