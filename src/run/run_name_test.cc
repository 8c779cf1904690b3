#include "run/run_name.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace lowtide {
namespace {

// Of a command whose words have no spaces.
std::string NameOf(const std::string& command) {
  std::istringstream in(command);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return DefaultRunName(words);
}

TEST(DefaultRunNameTest, AProgramIsCalledByItsBaseName) {
  EXPECT_EQ(NameOf("train"), "train");
  EXPECT_EQ(NameOf("./build/train --epochs 3"), "train");
  EXPECT_EQ(NameOf("./train.py"), "train.py");
  EXPECT_EQ(NameOf("/usr/bin/true"), "true");
  EXPECT_EQ(NameOf("folder/"), "folder");
  EXPECT_EQ(NameOf("/"), "/");
  EXPECT_EQ(NameOf("pythonic train.py"), "pythonic");
  EXPECT_EQ(NameOf(""), "");
  EXPECT_EQ(DefaultRunName(std::vector<std::string>{""}), "");
}

TEST(DefaultRunNameTest, APythonScriptIsCalledByItsFile) {
  for (const char* python : {"python", "python3", "python3.11", "/usr/bin/python3", "python3.13t",
                             "pypy3", "ipython", "./venv/bin/python"}) {
    EXPECT_EQ(NameOf(std::string(python) + " src/train.py --lr 1"), "train.py") << python;
  }
  EXPECT_EQ(NameOf("python3 -u train.py -m other"), "train.py");
  EXPECT_EQ(NameOf("python -OO -Wignore -X dev train.py"), "train.py");
  EXPECT_EQ(NameOf("python -W error -Xfrozen_modules=off train.py"), "train.py");
  EXPECT_EQ(NameOf("python --check-hash-based-pycs always train.py"), "train.py");
  EXPECT_EQ(NameOf("python -- train.py"), "train.py");
  EXPECT_EQ(NameOf("python experiments/resnet/"), "resnet");
}

TEST(DefaultRunNameTest, APythonModuleIsCalledByItsName) {
  EXPECT_EQ(NameOf("python -m pkg.module --lr 1"), "pkg.module");
  EXPECT_EQ(NameOf("python -um pkg.module x.py"), "pkg.module");
  EXPECT_EQ(NameOf("python -mpkg.module"), "pkg.module");
  EXPECT_EQ(NameOf("python -m torch.distributed.run --nproc-per-node 2 train.py"), "train.py");
  EXPECT_EQ(NameOf("python -m torch.distributed.run"), "torch.distributed.run");
}

TEST(DefaultRunNameTest, WhatHasNoScriptIsCalledAsItsProgram) {
  EXPECT_EQ(NameOf("python3 -c print(1) x.py"), "python3");
  EXPECT_EQ(NameOf("python3 -"), "python3");
  EXPECT_EQ(NameOf("python3"), "python3");
  EXPECT_EQ(NameOf("python3 -m"), "python3");
  EXPECT_EQ(NameOf("sh -c ./train.sh"), "sh");
  EXPECT_EQ(NameOf("bash -euc ./train.sh"), "bash");
  EXPECT_EQ(NameOf("bash -s x"), "bash");
  EXPECT_EQ(NameOf("julia -e 1"), "julia");
  EXPECT_EQ(NameOf("torchrun --help"), "torchrun");
  EXPECT_EQ(NameOf("env"), "env");
  EXPECT_EQ(NameOf("nice -n 5"), "nice");
}

TEST(DefaultRunNameTest, AShellScriptIsCalledByItsFile) {
  EXPECT_EQ(NameOf("sh train"), "train");
  EXPECT_EQ(NameOf("bash scripts/train.sh 3"), "train.sh");
  EXPECT_EQ(NameOf("bash -eu -o pipefail train.sh"), "train.sh");
  EXPECT_EQ(NameOf("bash -euo pipefail train.sh"), "train.sh");
  EXPECT_EQ(NameOf("bash +x --norc -- train.sh"), "train.sh");
  EXPECT_EQ(NameOf("bash --rcfile rc train.sh"), "train.sh");
}

TEST(DefaultRunNameTest, OtherInterpretersAreKnownByTheirScriptsEnding) {
  EXPECT_EQ(NameOf("julia -t 4 --project=. src/train.jl 3"), "train.jl");
  EXPECT_EQ(NameOf("Rscript fit.R"), "fit.R");
  EXPECT_EQ(NameOf("node --max-old-space-size=4096 train.js"), "train.js");
  EXPECT_EQ(NameOf("java -Xmx4g -jar lib/train.jar"), "train.jar");
}

TEST(DefaultRunNameTest, ALauncherIsCalledAsWhatItStarts) {
  EXPECT_EQ(NameOf("torchrun --nproc_per_node 2 --standalone train.py --lr 1"), "train.py");
  EXPECT_EQ(NameOf("torchrun --nproc-per-node=2 -m pkg.train"), "pkg.train");
  EXPECT_EQ(NameOf("accelerate launch --config_file a.yaml train.py"), "train.py");
  EXPECT_EQ(NameOf("accelerate launch -m pkg.train"), "pkg.train");
  EXPECT_EQ(NameOf("deepspeed --num_gpus 2 train.py --deepspeed ds.json"), "train.py");
  EXPECT_EQ(NameOf("mpirun -n 4 python -u train.py"), "train.py");
  EXPECT_EQ(NameOf("srun --ntasks 4 bash -l run"), "run");
  EXPECT_EQ(NameOf("uv run train.py"), "train.py");
  EXPECT_EQ(NameOf("uv run --python python3.11 python -m pkg.train"), "pkg.train");
  EXPECT_EQ(NameOf("poetry run torchrun --standalone train.py"), "train.py");
  EXPECT_EQ(NameOf("conda run -n torch python train.py"), "train.py");
}

TEST(DefaultRunNameTest, AWrapperIsCalledAsWhatItRuns) {
  EXPECT_EQ(NameOf("env python train.py"), "train.py");
  EXPECT_EQ(NameOf("env -i -u HOME SEED=1 A=b python3 train.py"), "train.py");
  EXPECT_EQ(NameOf("/usr/bin/env A=1 ./train"), "train");
  EXPECT_EQ(NameOf("nice -n 19 ./train"), "train");
  EXPECT_EQ(NameOf("nice -19 ./train"), "train");
  EXPECT_EQ(NameOf("nice --adjustment=5 ionice -c 2 -n7 python -m pkg"), "pkg");
  EXPECT_EQ(NameOf("timeout -k 5 1h bash train.sh"), "train.sh");
  EXPECT_EQ(NameOf("taskset -c 0-3 python train.py"), "train.py");
  EXPECT_EQ(NameOf("numactl -N 0 -m 0 -- python train.py"), "train.py");
  EXPECT_EQ(NameOf("nohup stdbuf -oL python train.py"), "train.py");
  EXPECT_EQ(NameOf("stdbuf -o L python train.py"), "train.py");
}

TEST(DefaultRunNameTest, WordsMayHoldAnything) {
  const std::vector<std::string> spaces = {"python", "my train.py"};
  EXPECT_EQ(DefaultRunName(spaces), "my train.py");
  const std::vector<std::string> odd = {"env", "=", "", "-", "--"};
  EXPECT_EQ(DefaultRunName(odd), "=");
}

}  // namespace
}  // namespace lowtide
