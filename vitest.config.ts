import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    coverage: {
      provider: "v8",
      include: ["src/core/**", "src/stores/**"],
      reporter: ["text-summary", "html"],
    },
  },
});
