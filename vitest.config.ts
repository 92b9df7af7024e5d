import { defineConfig } from "vitest/config";

/** Tests that measure time, memory or the delay of the event loop: other tests beside them would change the result. */
const measuring = [
  "test/{performance,faults,soak}/**/*.test.ts",
  "test/security/{parsers,schemas,frames}.test.ts",
  "test/runtime/growth.test.ts",
  "test/crash/{clock,restart,sigterm}.test.ts",
  "test/cli/{demo,migrate}.test.ts",
  "src/core/permissions/permissions.test.ts",
];

export default defineConfig({
  test: {
    // Tests name their stores; the one of whoever runs them is not theirs.
    env: {
      DATABASE_URL: "",
      ERRAND_DATABASE_URL: "",
      ERRAND_TRUST_STORE: "",
      ANTHROPIC_API_KEY: "",
      OPENAI_API_KEY: "",
      GOOGLE_GENERATIVE_AI_API_KEY: "",
      GEMINI_API_KEY: "",
      GOOGLE_API_KEY: "",
    },
    globalSetup: ["test/support/data-home.ts", "test/support/postgres/global-setup.ts", "test/package/run-folder.ts"],
    // A hang must end; how long a test takes on a loaded machine says nothing.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: "beside others",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: measuring,
          // Many tests wait for other processes: with one worker for each core, two cores are half idle.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: "alone", include: measuring, maxWorkers: 1, sequence: { groupOrder: 2 } },
      },
    ],
    coverage: {
      provider: "v8",
      include: ["src/core/**", "src/stores/**"],
      reporter: ["text-summary", "html"],
    },
  },
});
