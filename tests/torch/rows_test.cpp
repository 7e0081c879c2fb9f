// flor::log and flor::Logger with tensors, through the library as a program links it, outside of flor.
#include <flor/flor.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/base/digest.h"
#include "core/files/json_lines.h"
#include "support/temporary.h"

namespace flor {
namespace {

namespace fs = std::filesystem;
using core::Json;
using test::TemporaryDirectory;

std::map<std::string, Json> rows_of(const fs::path& file) {
  std::map<std::string, Json> out;
  for (const auto& row : core::read_json_lines(file).rows) out[row["name"]] = row;
  return out;
}

template <class Write>
std::map<std::string, Json> logged(Write write) {
  const TemporaryDirectory directory;
  {
    Logger logger((directory / "logs").string());
    write(logger);
  }
  return rows_of(directory / "logs" / "log.jsonl");
}

TEST(Logger, TakesWhatFlorLogTakes) {
  const auto rows = logged([](Logger& logger) {
    logger.log("real", 0.1);
    logger.log("float", 0.1F);
    logger.log("integer", 3);
    logger.log("truth", true);
    logger.log("text", "a \"b\"");
    logger.log("tensor", torch::tensor({1, 2}));
    logger.at({{"epoch", 2}, {"step", 7}}).log("loss", 1.5);
    logger.at({{"epoch", 2}}).log("w", torch::tensor({1.0F, 3.0F}), flor::summary);
  });
  EXPECT_EQ(rows.at("real")["value"], 0.1);
  EXPECT_EQ(rows.at("float")["value"], static_cast<double>(0.1F));
  EXPECT_EQ(rows.at("integer").dump(), R"({"name":"integer","value":3,"@at":""})");
  EXPECT_EQ(rows.at("truth")["value"], true);
  EXPECT_EQ(rows.at("text")["value"], "a \"b\"");
  EXPECT_EQ(rows.at("tensor")["value"].dump(), "[1,2]");
  EXPECT_EQ(rows.at("loss").dump(),
            R"({"name":"loss","value":1.5,"epoch":2,"step":7,"@at":"epoch=2/step=7"})");
  EXPECT_EQ(rows.at("w")["value"]["mean"], 2.0);
  EXPECT_EQ(rows.at("w")["epoch"], 2);
}

// What a training step does right after it logged.
TEST(Logger, LaterValuesNeverShow) {
  auto weight = torch::full({512, 512}, 1.0F, torch::requires_grad());
  const auto rows = logged([&](Logger& logger) {
    const torch::NoGradGuard no_grad;
    for (int step = 0; step < 20; ++step) {
      logger.log("w" + std::to_string(step), weight, flor::summary);
      logger.log("t" + std::to_string(step), weight.t(), flor::whole);  // not contiguous
      weight.add_(1);
    }
  });
  for (int step = 0; step < 20; ++step) {
    const auto& value = rows.at("w" + std::to_string(step))["value"];
    EXPECT_EQ(value["min"], 1.0 + step);
    EXPECT_EQ(value["max"], 1.0 + step);
    const auto then = torch::full({512, 512}, 1.0F + static_cast<float>(step));
    EXPECT_EQ(rows.at("t" + std::to_string(step))["value"]["xxh3"],
              core::digest_of(then.data_ptr(), then.nbytes()));
  }
}

TEST(Logger, AgreesWithLibTorch) {
  torch::manual_seed(3);
  const auto tensor = torch::randn({300, 77}, torch::kDouble);
  const auto rows = logged([&](Logger& logger) {
    logger.log("double", tensor, flor::histogram(10));
    for (const auto type : {torch::kFloat, torch::kHalf, torch::kBFloat16, torch::kLong}) {
      logger.log(c10::toString(type), tensor.to(type), flor::summary);
    }
  });
  const auto& value = rows.at("double")["value"];
  EXPECT_EQ(value["min"], tensor.min().item<double>());
  EXPECT_EQ(value["max"], tensor.max().item<double>());
  EXPECT_NEAR(value["mean"].get<double>(), tensor.mean().item<double>(), 1e-14);
  EXPECT_NEAR(value["norm"].get<double>(), tensor.norm().item<double>(), 1e-10);
  const auto counts = torch::histc(tensor, 10);
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(value["histogram"][static_cast<std::size_t>(i)], counts[i].item<int64_t>());
  for (const auto type : {torch::kFloat, torch::kHalf, torch::kBFloat16, torch::kLong}) {
    const auto& narrow = rows.at(c10::toString(type))["value"];
    const auto wide = tensor.to(type).to(torch::kDouble);
    EXPECT_EQ(narrow["max"], wide.max().item<double>());
    EXPECT_NEAR(narrow["norm"].get<double>(), wide.norm().item<double>(), 1e-10);
  }
}

TEST(Logger, WhatCannotBeTakenIsSaidInTheRow) {
  const auto rows = logged([](Logger& logger) {
    logger.log("undefined", torch::Tensor(), flor::summary);
    logger.log("sparse", torch::eye(3).to_sparse(), flor::whole);
    logger.log("shape", torch::zeros({2, 3, 4, 5}), flor::image);
    logger.log("none", torch::zeros({0}), flor::histogram(2));
  });
  EXPECT_TRUE(rows.at("undefined")["value"].is_null());
  EXPECT_TRUE(rows.at("sparse")["value"].contains("error"));
  EXPECT_TRUE(rows.at("shape")["value"].contains("error"));
  EXPECT_EQ(rows.at("none")["value"]["count"], 0);
}

TEST(Log, OutsideOfFlorGoesWhereTheEnvironmentSaysWithItsLoops) {
  const TemporaryDirectory directory;
  // The library reads its environment once: in a process of its own.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::setenv("FLOR_LOG", (directory / "rows.jsonl").c_str(), 1);
    for (const int64_t epoch : flor::loop("epoch", 2)) {
      auto tensor = torch::full({1000}, static_cast<float>(epoch));
      flor::log("w", tensor, flor::histogram(4));
      flor::log("volatile", tensor, flor::summary, flor::is_volatile);
      flor::log("picture", tensor.view({10, 100}), flor::image);
      flor::log("loss", 2.5);
      tensor.fill_(99);
    }
    std::exit(0);  // waits for the rows
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const auto rows = core::read_json_lines(directory / "rows.jsonl").rows;
  ASSERT_EQ(rows.size(), 8U);
  const char* names[] = {"w", "volatile", "picture", "loss"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i]["name"], names[i % 4]);
    EXPECT_EQ(rows[i]["epoch"], i / 4);
  }
  EXPECT_EQ(rows[4]["value"]["max"], 1.0);
  EXPECT_EQ(rows[1]["@volatile"], true);
  EXPECT_TRUE(fs::exists(directory / rows[6]["value"]["file"].get<std::string>()));
}

// 3000000000 was once -1294967296 as an int.
TEST(Arg, TakesNoNumberThatDoesNotFit) {
  ::setenv("FLOR_ARGS", "small=3000000000\nbyte=-129\nsize=-1\nlarge=3000000000\nleast=-128\nmost=4294967295",
           1);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(flor::arg("small", 7), 7);
  EXPECT_EQ(flor::arg<std::int8_t>("byte", 5), 5);
  EXPECT_EQ(flor::arg<std::size_t>("size", 9), 9U);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 3) << said;
  EXPECT_NE(said.find("argument small=3000000000 is not of the type"), std::string::npos) << said;
  EXPECT_EQ(flor::arg<std::int64_t>("large", 0), 3000000000);
  EXPECT_EQ(flor::arg<std::size_t>("large", 0), 3000000000U);
  EXPECT_EQ(flor::arg<std::int8_t>("least", 0), -128);
  EXPECT_EQ(flor::arg<std::uint32_t>("most", 0), 4294967295U);
  ::unsetenv("FLOR_ARGS");
}

}  // namespace
}  // namespace flor
