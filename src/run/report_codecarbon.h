// A run as one row of codecarbon's emissions.csv (the 38 columns of codecarbon 3), so that
// notebooks written for it read Lowtide's runs.
//
// Units are codecarbon's: seconds, kg CO2e, kg/s, W (mean over the run), kWh. As there, energies
// include PUE and powers do not. What is unknown is an empty field; no column is ever left out.
//
// What the store does not know comes from the run's settings (JSON object), where present:
//   pue, cpu_energy ("share" | "host"), experiment_id,
//   environment: {os, python_version, cpu_count, cpu_model, gpu_count, gpu_model, ram_total_gb,
//                 cloud_provider, cloud_region, on_cloud ("Y" | "N"), longitude, latitude},
//   country: {iso_code (three letters), name, region}, versions: {lowtide}.
#pragma once

#include <functional>
#include <string>

#include "base/time.h"
#include "run/report.h"

namespace lowtide {

// Local time "YYYY-MM-DDTHH:MM:SS" without a zone, which is what codecarbon writes. The caller
// knows the zone of the place.
using LocalTimeFormat = std::function<std::string(TimePoint)>;

// For a fixed offset from UTC.
LocalTimeFormat LocalTimeAt(std::chrono::minutes utc_offset);

// One line each, with "\n" at the end.
std::string CodecarbonHeader();
std::string CodecarbonRow(const Report& report, const LocalTimeFormat& local_time);

}  // namespace lowtide
