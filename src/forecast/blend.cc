#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>

#include "forecast/ridge.h"

namespace lowtide {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::Vector2d;
using Eigen::VectorXd;

constexpr double kLowestLog = 0;
constexpr double kHighestLog = 8.517193191416238;  // ln 5000, see grid/intensity.h
constexpr std::size_t kOffsets = 3;
// Training issues relative to the hour of day that is forecast.
constexpr std::array<std::int64_t, kOffsets> kOffset = {0, -1, 1};
// A column that varies by less than this share of its first spread says nothing yet.
constexpr double kLeastVariance = 1e-8;
// No feature is taken further from what was learned than this many deviations.
constexpr double kFarthest = 8;
// The forecast of the intensity itself may fall to nothing or below; the logarithm's may not.
constexpr double kLeastShareOfLog = 0.5;

Index ToIndex(std::size_t n) { return static_cast<Index>(n); }

struct Fit {
  VectorXd centre;
  VectorXd scale;
  Eigen::MatrixX2d coefficients;
  Vector2d mean;  // of the targets
};

// The training rows of one lead, in the order of their issues, and the sums over those learned.
// Single precision holds the rows: columns are brought to unit size first, so that the products are
// sums of some thousand terms near 1, and the ridge keeps the matrix far from singular.
class Lead {
 public:
  Lead(const FeatureTable& table, const BlendOptions& options, std::size_t lead,
       std::size_t first_issue, std::size_t first_refit, std::size_t last_refit)
      : table_(table), options_(options), lead_(lead), reference_(first_refit) {
    const Index width = ToIndex(table.Width());
    row_.resize(width);
    shift_.setZero(width);
    unit_.setOnes(width);
    ReadRows(first_issue, last_refit);
    SetUnits(first_refit);
    gram_.setZero(width, width);
    cross_.setZero(width, 2);
    for (auto& group : groups_) {
      group.sum.setZero(width);
      group.target.setZero();
    }
    plain_sum_.setZero(width);
    plain_squares_.setZero(width);
  }

  // Adds the rows whose targets are known at `hour`.
  void LearnUntil(std::size_t hour) {
    for (std::size_t g = 0; g < kOffsets; ++g) Learn(groups_[g], g, hour);
  }

  Fit Solve(std::size_t hour) const {
    const Index width = gram_.rows();
    Fit fit;
    const double n = std::max(1.0, plain_count_);
    const VectorXd mean = plain_sum_ / n;
    const VectorXd variance = plain_squares_ / n - mean.cwiseAbs2();
    VectorXd inverse(width);
    for (Index k = 0; k < width; ++k) {
      inverse(k) = variance(k) > kLeastVariance ? 1 / std::sqrt(variance(k)) : 0;
    }
    MatrixXd a = gram_.cast<double>();
    Eigen::MatrixX2d b = cross_;
    for (const Group& group : groups_) {
      if (group.weight <= 0) continue;
      a.selfadjointView<Eigen::Lower>().rankUpdate(group.sum, -1 / group.weight);
      b.noalias() -= group.sum * (group.target / group.weight).transpose();
    }
    // Weights are counted from the first refit; the ridge is meant for weights counted from now.
    const double age = static_cast<double>(hour - reference_) / 24 / options_.half_life_days;
    a = inverse.asDiagonal() * a * inverse.asDiagonal();
    a.diagonal().array() += options_.lambda * std::exp2(age);
    b = inverse.asDiagonal() * b;
    fit.coefficients = a.selfadjointView<Eigen::Lower>().llt().solve(b);
    fit.mean.setZero();
    fit.centre = shift_;
    const Group& main = groups_[0].weight > 0 ? groups_[0] : groups_[1];
    if (main.weight > 0) {
      fit.mean = main.target / main.weight;
      fit.centre += (main.sum / main.weight).cwiseQuotient(unit_);
    }
    fit.scale = unit_.cwiseProduct(inverse);
    return fit;
  }

  double Predict(const Fit& fit, std::size_t issue) {
    table_.Fill(issue, lead_, {row_.data(), static_cast<std::size_t>(row_.size())});
    const VectorXd z =
        ((row_ - fit.centre).cwiseProduct(fit.scale)).cwiseMax(-kFarthest).cwiseMin(kFarthest);
    const Vector2d y = fit.coefficients.transpose() * z + fit.mean;
    const double log = std::clamp(y(0), kLowestLog, kHighestLog);
    const double linear = std::log(std::max(y(1) * level_, kLeastShareOfLog * std::exp(log)));
    return std::exp(std::clamp((log + linear) / 2, kLowestLog, kHighestLog));
  }

  bool Empty() const { return groups_[0].weight + groups_[1].weight + groups_[2].weight <= 0; }

 private:
  struct Group {
    MatrixXf rows;                     // a column per issue
    std::vector<std::size_t> targets;  // hours
    std::vector<double> log;
    std::size_t learned = 0;
    double weight = 0;
    VectorXd sum;  // weighted, of the rows
    Vector2d target;
  };

  void ReadRows(std::size_t first_issue, std::size_t last_refit) {
    for (std::size_t g = 0; g < kOffsets; ++g) {
      Group& group = groups_[g];
      std::vector<std::size_t> issues;
      for (std::size_t i = first_issue; i < last_refit; i += 24) {
        const std::int64_t issue = static_cast<std::int64_t>(i) + kOffset[g];
        if (issue < static_cast<std::int64_t>(kFirstIssue)) continue;
        const std::size_t target = static_cast<std::size_t>(issue) + lead_;
        if (target >= last_refit) break;
        if (table_.IsKnown(target)) issues.push_back(static_cast<std::size_t>(issue));
      }
      group.rows.resize(row_.size(), ToIndex(issues.size()));
      for (std::size_t k = 0; k < issues.size(); ++k) {
        table_.Fill(issues[k], lead_, {row_.data(), static_cast<std::size_t>(row_.size())});
        if (g == 0 && k == 0) shift_ = row_;
        group.rows.col(ToIndex(k)) = (row_ - shift_).cast<float>();
        group.targets.push_back(issues[k] + lead_);
        group.log.push_back(table_.Log(issues[k] + lead_));
      }
    }
  }

  // From what is known at the first refit only, so that a longer series changes nothing.
  void SetUnits(std::size_t first_refit) {
    const Group& main = groups_[0];
    double level = 0;
    std::size_t n = 0;
    while (n < main.targets.size() && main.targets[n] < first_refit)
      level += std::exp(main.log[n++]);
    if (n == 0) return;
    level_ = level / static_cast<double>(n);
    const MatrixXd first = main.rows.leftCols(ToIndex(n)).cast<double>();
    const VectorXd mean = first.rowwise().mean();
    const VectorXd spread = (first.rowwise().squaredNorm() / static_cast<double>(n)).cwiseSqrt();
    for (Index k = 0; k < unit_.size(); ++k) {
      if (spread(k) > 0) unit_(k) = 1 / spread(k);
    }
    for (Group& group : groups_) {
      group.rows = unit_.cast<float>().asDiagonal() * group.rows;
    }
  }

  void Learn(Group& group, std::size_t g, std::size_t hour) {
    const std::size_t begin = group.learned;
    std::size_t end = begin;
    while (end < group.targets.size() && group.targets[end] < hour) ++end;
    if (end == begin) return;
    group.learned = end;
    MatrixXf block = group.rows.middleCols(ToIndex(begin), ToIndex(end - begin));
    for (std::size_t k = begin; k < end; ++k) {
      const Index c = ToIndex(k - begin);
      const double age =
          (static_cast<double>(reference_) - static_cast<double>(group.targets[k] - lead_)) / 24;
      const double w =
          (g == 0 ? 1 : options_.neighbour_weight) * std::exp2(-age / options_.half_life_days);
      const VectorXd z = block.col(c).cast<double>();
      const Vector2d target(group.log[k], std::exp(group.log[k]) / level_);
      if (g == 0) {
        plain_sum_ += z;
        plain_squares_ += z.cwiseAbs2();
        plain_count_ += 1;
      }
      group.weight += w;
      group.sum += w * z;
      group.target += w * target;
      cross_.noalias() += w * z * target.transpose();
      block.col(c) *= static_cast<float>(std::sqrt(w));
    }
    gram_.selfadjointView<Eigen::Lower>().rankUpdate(block);
  }

  const FeatureTable& table_;
  const BlendOptions& options_;
  std::size_t lead_;
  std::size_t reference_;
  double level_ = 1;  // mean intensity, which brings the second target to about 1
  VectorXd row_;
  VectorXd shift_;
  VectorXd unit_;
  std::array<Group, kOffsets> groups_;
  MatrixXf gram_;  // lower half
  Eigen::MatrixX2d cross_;
  VectorXd plain_sum_;
  VectorXd plain_squares_;
  double plain_count_ = 0;
};

}  // namespace

ForecastTable BlendForecasts(const FeatureTable& table, const BlendOptions& options,
                             std::span<const std::size_t> refits,
                             std::span<const std::size_t> issues, std::size_t horizon,
                             const PhaseListener& phase) {
  ForecastTable out(issues.size(), horizon);
  if (issues.empty() || refits.empty()) return out;
  const auto tell = [&](Phase what) {
    if (phase) phase(what);
  };
  const std::size_t first_issue = kFirstIssue + (issues[0] - kFirstIssue) % 24;
  for (std::size_t h = 0; h < horizon; ++h) {
    tell(Phase::kLearn);
    Lead lead(table, options, h, first_issue, refits.front(), refits.back());
    std::size_t next = 0;
    for (std::size_t r = 0; r < refits.size(); ++r) {
      tell(Phase::kLearn);
      lead.LearnUntil(refits[r]);
      const Fit fit = lead.Solve(refits[r]);
      tell(Phase::kPredict);
      const bool last = r + 1 == refits.size();
      for (; next < issues.size() && (last || issues[next] < refits[r + 1]); ++next) {
        out.At(next, h) =
            lead.Empty() ? std::exp(table.Log(issues[next] - 1)) : lead.Predict(fit, issues[next]);
      }
    }
  }
  return out;
}

}  // namespace lowtide
