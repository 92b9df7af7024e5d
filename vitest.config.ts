import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Tests name their stores; the one of whoever runs them is not theirs.
    env: { DATABASE_URL: "", ERRAND_DATABASE_URL: "", ERRAND_TRUST_STORE: "" },
    globalSetup: ["test/support/data-home.ts", "test/support/postgres/global-setup.ts"],
    // A hang must end; how long a test takes on a loaded machine says nothing.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    coverage: {
      provider: "v8",
      include: ["src/core/**", "src/stores/**"],
      reporter: ["text-summary", "html"],
    },
  },
});
