import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { isFetchableClient } from "@/lib/oauth/clients";

describe("a client's metadata document", () => {
  beforeAll(() => {
    const hosts = "claude.ai, apps.example.com:8443,127.0.0.1,[::1],localhost,169.254.169.254";
    vi.stubEnv("CONNECT_CLIENT_HOSTS", hosts);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
  });

  it.each(["https://claude.ai/c.json", "https://CLAUDE.ai:443/", "https://apps.example.com:8443/c.json"])(
    "is fetched from a listed host: %s",
    (clientId) => {
      expect(isFetchableClient(clientId)).toBe(true);
    },
  );

  it.each([
    "https://evil.example/c.json",
    "https://claude.ai.evil.example/c.json",
    "https://evil.example/claude.ai",
    "https://claude.ai@evil.example/c.json",
    "https://sub.claude.ai/c.json",
    "https://claude.ai:8443/c.json",
    "https://apps.example.com/c.json",
  ])("is fetched from no other: %s", (clientId) => {
    expect(isFetchableClient(clientId)).toBe(false);
  });

  it.each([
    "https://127.0.0.1/c.json",
    "https://[::1]/c.json",
    "https://localhost/c.json",
    "https://169.254.169.254/c.json",
  ])("is fetched from no address and never from this machine, whatever the list says: %s", (clientId) => {
    expect(isFetchableClient(clientId)).toBe(false);
  });
});
