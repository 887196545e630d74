const pause = (seconds = 0) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** Retries a 429, 502 or 503 up to four times, after Retry-After plus a random delay. */
async function callWithRetries(url = "", options = {}) {
  for (let attempt = 0; ; attempt++) {
    const signal = AbortSignal.timeout(10_000);
    const response = await fetch(url, { ...options, redirect: "error", signal });
    if (![429, 502, 503].includes(response.status) || attempt === 4) return response;
    const asked = Number.parseInt(response.headers.get("Retry-After") ?? "") || 0; // a date counts as none
    const waitSeconds = Math.min(Math.max(asked, 2 ** attempt), 3600);
    await pause(waitSeconds + Math.random() * (1 + waitSeconds / 10));
  }
}

const response = await callWithRetries(`${process.env.CORNER_OFFICE_URL}/api/health`);
console.log(response.status, response.headers.get("RateLimit"));
