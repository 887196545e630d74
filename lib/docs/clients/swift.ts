/** A complete client in Swift 5.9 and newer. A test runs it if a Swift compiler is installed. */
export const swiftClient = String.raw`
import Foundation

/// Tracks whether the company may run and when to ask again. Run while mayRun() is true; otherwise show why.
actor CompanyGate {
  private(set) var why = "not_asked"
  // The last yes is valid until then, even during an outage. A monotonic clock that includes sleep.
  private var yesUntil: ContinuousClock.Instant?
  private var faults = 0
  private var deadToken = ""
  private let url: URL
  private let readToken: @Sendable () async throws -> String

  /// readToken returns the session token, or "" if a person has to sign in first. It throws during an outage.
  init(url: URL, readToken: @escaping @Sendable () async throws -> String) {
    self.url = url
    self.readToken = readToken
  }

  func mayRun(now: ContinuousClock.Instant = .now) -> Bool { yesUntil.map { now < $0 } ?? false }

  /// Asks once. Returns the seconds until the next call; nil: call again after a new sign-in.
  func ask(now: ContinuousClock.Instant = .now) async -> TimeInterval? {
    guard let token = try? await readToken() else { return hold("unreachable", 0, now) }
    if token.isEmpty || token == deadToken { return stop("signed_out", nil) }
    let (status, answer, retryAfter) = await fetchEntitlement(token)
    if status == 200, answer["ok"] as? Bool == true, let recheck = answer["recheckAfterSeconds"] as? Double {
      why = answer["status"] as? String ?? "licensed"
      faults = 0
      yesUntil = now.advanced(by: .seconds(recheck))
      return max(1, recheck * Double.random(in: 0.9...1))  // a little early, never late
    }
    let code = (answer["error"] as? [String: Any])?["code"] as? String ?? "unreachable"
    if status == 401 {
      deadToken = token  // this token never works again: have the owner sign in
      return stop(code, nil)
    }
    if status == 403 || code == "not_configured" { return stop(code, 600 * Double.random(in: 1...1.1)) }
    return hold(code, retryAfter, now)
  }

  /// 429, 503, no network or no JSON are not refusals: the last yes stays valid until it expires.
  private func hold(_ code: String, _ retryAfter: TimeInterval, _ now: ContinuousClock.Instant) -> TimeInterval {
    if !mayRun(now: now) { why = code }
    let backoff = min(300, 5 * pow(2, Double(faults)))
    faults += 1
    return max(retryAfter, backoff) * Double.random(in: 1...1.2)
  }

  private func stop(_ reason: String, _ seconds: TimeInterval?) -> TimeInterval? {
    why = reason
    faults = 0
    yesUntil = nil
    return seconds
  }

  private func fetchEntitlement(_ token: String) async -> (Int, [String: Any], TimeInterval) {
    var request = URLRequest(url: url.appendingPathComponent("api/entitlement"), timeoutInterval: 10)
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    guard let (data, response) = try? await URLSession.shared.data(for: request),
      let http = response as? HTTPURLResponse,
      let answer = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { return (0, [:], 0) }
    let retryAfter = Double(http.value(forHTTPHeaderField: "Retry-After") ?? "") ?? 0
    return (http.statusCode, answer, retryAfter)
  }
}
`;
