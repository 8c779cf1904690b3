#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "forecast/ridge.h"

namespace lowtide {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

constexpr double kLowestLog = 0;
constexpr double kHighestLog = 8.517193191416238;  // ln 5000, see grid/intensity.h
// A column that varies by less than this share of its first spread says nothing yet.
constexpr double kLeastVariance = 1e-6;
// No feature is taken further from what was learned than this many deviations.
constexpr double kFarthest = 8;
// The forecast of the intensity itself may fall to nothing or below; the logarithm's may not.
constexpr double kLeastShareOfLog = 0.5;
// Every how many training issues one is looked at for the columns' units.
constexpr std::size_t kUnitSample = 4;

Index ToIndex(std::size_t n) { return static_cast<Index>(n); }

struct Fit {
  VectorXd centre;
  VectorXd scale;
  Eigen::MatrixX2d coefficients;
  Eigen::Vector2d mean;  // of the targets
};

// The training rows of one lead and the sums over those learned. A row is the features, a 1 and the
// two targets, all times the root of its weight, so that one matrix of products holds every sum
// that the regression needs. Single precision suffices: columns are first brought to unit size, the
// sums have some thousand terms, and the ridge keeps the matrix far from singular.
class Lead {
 public:
  Lead(const FeatureTable& table, const BlendOptions& options, std::size_t lead,
       std::size_t first_issue, std::size_t first_refit, std::size_t last_refit)
      : table_(table),
        options_(options),
        lead_(lead),
        width_(ToIndex(table.Width())),
        reference_(first_refit) {
    row_.resize(width_);
    shift_.setZero(width_);
    unit_.setOnes(width_);
    SetUnits(first_issue);
    ReadRows(first_issue, last_refit);
  }

  // Adds the rows whose targets are known at `hour`.
  void LearnUntil(std::size_t hour) {
    std::size_t end = learned_;
    while (end < targets_.size() && targets_[end] < hour) ++end;
    if (end == learned_) return;
    sums_.selfadjointView<Eigen::Lower>().rankUpdate(
        rows_.middleCols(ToIndex(learned_), ToIndex(end - learned_)));
    learned_ = end;
  }

  bool Empty() const { return learned_ == 0; }

  Fit Solve(std::size_t hour) const {
    const double weight = static_cast<double>(sums_(width_, width_));
    const VectorXd mean = sums_.row(width_).head(width_).transpose().cast<double>() / weight;
    Fit fit;
    fit.mean = sums_.col(width_).tail(2).cast<double>() / weight;
    MatrixXd a = sums_.topLeftCorner(width_, width_).cast<double>();
    a.selfadjointView<Eigen::Lower>().rankUpdate(mean, -weight);
    const Eigen::MatrixX2d b = sums_.bottomLeftCorner(2, width_).transpose().cast<double>() -
                               weight * mean * fit.mean.transpose();
    VectorXd inverse = VectorXd::Zero(width_);
    for (Index k = 0; k < width_; ++k) {
      const double variance = a(k, k) / weight;
      if (variance > kLeastVariance) inverse(k) = 1 / std::sqrt(variance);
    }
    fit.centre = shift_ + mean.cwiseQuotient(unit_);
    // Weights are counted from the first refit; the ridge is meant for weights counted from now.
    const double age = static_cast<double>(hour - reference_) / 24 / options_.half_life_days;
    a = inverse.asDiagonal() * a * inverse.asDiagonal();
    const double lambda = lead_ < 24 ? options_.lambda : options_.later_lambda;
    a.diagonal().array() += lambda * std::exp2(age);
    const MatrixXf scaled = a.cast<float>();
    fit.coefficients = scaled.selfadjointView<Eigen::Lower>()
                           .llt()
                           .solve((inverse.asDiagonal() * b).cast<float>())
                           .cast<double>();
    fit.scale = unit_.cwiseProduct(inverse);
    return fit;
  }

  double Predict(const Fit& fit, std::size_t issue) {
    Fill(issue);
    const VectorXd z =
        (row_ - fit.centre).cwiseProduct(fit.scale).cwiseMax(-kFarthest).cwiseMin(kFarthest);
    const Eigen::Vector2d y = fit.coefficients.transpose() * z + fit.mean;
    const double log = std::clamp(y(0) + log_level_, kLowestLog, kHighestLog);
    const double linear =
        std::log(std::max(y(1) * std::exp(log_level_), kLeastShareOfLog * std::exp(log)));
    return std::exp(std::clamp((log + linear) / 2, kLowestLog, kHighestLog));
  }

 private:
  void Fill(std::size_t issue) {
    table_.Fill(issue, lead_, {row_.data(), static_cast<std::size_t>(width_)});
  }

  // From what is known at the first refit only, so that a longer series changes nothing.
  void SetUnits(std::size_t first_issue) {
    VectorXd squares = VectorXd::Zero(width_);
    double log_sum = 0;
    double n = 0;
    for (std::size_t i = first_issue; i + lead_ < reference_; i += 24 * kUnitSample) {
      Fill(i);
      if (n == 0) shift_ = row_;
      squares += (row_ - shift_).cwiseAbs2();
      log_sum += table_.Log(i + lead_);
      n += 1;
    }
    if (n == 0) return;
    log_level_ = log_sum / n;
    for (Index k = 0; k < width_; ++k) {
      if (squares(k) > 0) unit_(k) = std::sqrt(n / squares(k));
    }
  }

  void ReadRows(std::size_t first_issue, std::size_t last_refit) {
    std::vector<std::size_t> issues;
    for (std::size_t i = first_issue; i + lead_ < last_refit; i += 24) {
      if (table_.IsKnown(i + lead_)) issues.push_back(i);
    }
    rows_.resize(width_ + 3, ToIndex(issues.size()));
    sums_.setZero(width_ + 3, width_ + 3);
    for (std::size_t k = 0; k < issues.size(); ++k) {
      Fill(issues[k]);
      const double log = table_.Log(issues[k] + lead_) - log_level_;
      const double age = (static_cast<double>(reference_) - static_cast<double>(issues[k])) / 24;
      const double root = std::sqrt(std::exp2(-age / options_.half_life_days));
      auto column = rows_.col(ToIndex(k));
      column.head(width_) = ((row_ - shift_).cwiseProduct(unit_) * root).cast<float>();
      column(width_) = static_cast<float>(root);
      column(width_ + 1) = static_cast<float>(root * log);
      column(width_ + 2) = static_cast<float>(root * std::exp(log));
      targets_.push_back(issues[k] + lead_);
    }
  }

  const FeatureTable& table_;
  const BlendOptions& options_;
  std::size_t lead_;
  Index width_;
  std::size_t reference_;
  double log_level_ = 0;  // which brings the targets to about 0 and 1
  VectorXd row_;
  VectorXd shift_;
  VectorXd unit_;
  MatrixXf rows_;                     // a column per issue
  std::vector<std::size_t> targets_;  // hours
  std::size_t learned_ = 0;           // rows
  MatrixXf sums_;                     // of their products; lower half
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
      const Fit fit = lead.Empty() ? Fit{} : lead.Solve(refits[r]);
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
