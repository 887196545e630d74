// Corner Office client 1.4.0, for Swift 5.9 and newer. Nothing else to install.
// For Apple's systems. Our tests run the loop and the renewal on Linux. There, Foundation without the correction of
// swiftlang/swift-corelibs-foundation#5285 ends the program at an answer that breaks off before its headers end:
// let a supervisor start it again.
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking  // HTTP on other systems than Apple's
#endif
#if canImport(AuthenticationServices)
import AuthenticationServices
import CryptoKit
import Security
#endif

/// A redirect would take the token to another host.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}

private let session: URLSession = {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.timeoutIntervalForResource = 10  // for the whole answer; a request's own is for each part
  return URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
}()

private struct Entitlement: Decodable, Sendable {
  struct Failure: Decodable, Sendable { let code: String }
  let ok: Bool?
  let status: String?
  let recheckAfterSeconds: Double?
  let error: Failure?
  // Services before plans send none of this, and only assistantLimit.
  let plan: Lenient<String>?
  let features: Lenient<[Lenient<String>]>?
  let limits: Lenient<[String: Lenient<Double>]>?
  let assistantLimit: Lenient<Double>?
}

/// A value, if it is of this type: one that is not must not spoil the answer.
private struct Lenient<Value: Decodable & Sendable>: Decodable, Sendable {
  let value: Value?
  let isNull: Bool
  init(from decoder: any Decoder) throws {
    value = try? Value(from: decoder)
    isNull = (try? decoder.singleValueContainer())?.decodeNil() ?? false
  }
}

private struct Tokens: Decodable, Sendable {
  let access_token: String?
  let refresh_token: String?
  let expires_in: Double?
  let error: String?
  let token_type: String?
}

/// Sends a request, with the headers for a nonce. A service whose clock differs sends one, for another attempt. The answer
/// is nil if it cannot be one of the service: a redirect, a proxy's page.
private func fetch<Answer: Decodable & Sendable>(
  _ request: URLRequest, headersFor: @Sendable (_ nonce: String) async throws -> [String: String]
) async -> (status: Int, answer: Answer?, retryAfter: TimeInterval) {
  var request = request
  var nonce = await bound.nonce
  for attempt in 1...2 {
    guard let headers = try? await headersFor(nonce) else { return (0, nil, 0) }
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let (status, answer, retryAfter, newNonce): (Int, Answer?, TimeInterval, String?) = await send(request)
    guard attempt == 1, let newNonce else { return (status, answer, retryAfter) }
    nonce = newNonce
    await bound.keep(nonce: nonce)
  }
  return (0, nil, 0)
}

private func send<Answer: Decodable & Sendable>(_ request: URLRequest) async -> (
  status: Int, answer: Answer?, retryAfter: TimeInterval, nonce: String?
) {
  guard let (data, response) = try? await session.data(for: request),
    let http = response as? HTTPURLResponse, !(300..<400).contains(http.statusCode)
  else { return (0, nil, 0, nil) }
  let answer = try? JSONDecoder().decode(Answer.self, from: data)
  let retryAfter = Int(http.value(forHTTPHeaderField: "Retry-After") ?? "") ?? 0  // no date
  let nonce = http.value(forHTTPHeaderField: "DPoP-Nonce")
  return (http.statusCode, answer, TimeInterval(min(retryAfter, 3600)), nonce)
}

// --- The loop ---

/// Tracks whether the company may run and when to ask again. Run while mayRun() is true; otherwise show why.
actor CompanyGate {
  private(set) var why = "not_asked"
  private(set) var plan = ""  // the name of what the owner has; features and limits say what is in it
  private(set) var features: Set<String> = []
  private(set) var limits: [String: Int] = [:]
  // The last yes is valid until then, even during an outage. A monotonic clock that includes sleep.
  private var yesUntil: ContinuousClock.Instant?
  private var faults = 0
  private var deadToken = ""
  private var pause: Task<Void, Never>?
  private var isWoken = false
  private let maxSeconds = 3600.0  // no answer is good for longer
  private let url: URL
  private let readToken: @Sendable (_ deadToken: String) async throws -> String

  /// readToken returns the session token, or "" if a person has to sign in first. It throws during an outage. It gets
  /// the token that no longer works, to renew it.
  init(url: URL, readToken: @escaping @Sendable (_ deadToken: String) async throws -> String) {
    self.url = url
    self.readToken = readToken
  }

  func mayRun(now: ContinuousClock.Instant = .now) -> Bool { yesUntil.map { now < $0 } ?? false }

  /// Whether the plan has a feature, and the company may run.
  func has(_ feature: String, now: ContinuousClock.Instant = .now) -> Bool {
    mayRun(now: now) && features.contains(feature)
  }

  /// The most that the plan allows: Int.max for what it does not limit, and 0 while the company may not run.
  func limit(_ name: String, now: ContinuousClock.Instant = .now) -> Int {
    mayRun(now: now) ? limits[name] ?? .max : 0
  }

  /// Asks until its task is cancelled. Call wake() to ask at once: after a sign-in, and when the machine wakes up.
  func keepAsking(onAnswer: @Sendable (_ mayRun: Bool, _ why: String) async -> Void) async {
    while !Task.isCancelled {
      isWoken = false
      let seconds = min(await ask() ?? maxSeconds, maxSeconds)  // asking about a dead token sends nothing
      await onAnswer(mayRun(), why)
      if isWoken { continue }
      let pause = Task { _ = try? await Task.sleep(for: .seconds(seconds)) }
      self.pause = pause
      await withTaskCancellationHandler {
        await pause.value
      } onCancel: {
        pause.cancel()
      }
    }
  }

  func wake() {
    isWoken = true
    pause?.cancel()
  }

  /// Asks once. Returns the seconds until the next call; nil: call again after a new sign-in.
  func ask(now: ContinuousClock.Instant = .now) async -> TimeInterval? {
    var attempt = 1
    while true {
      guard let token = try? await readToken(deadToken) else { return hold("unreachable", 0, now) }
      if token.isEmpty || token == deadToken { return stop("signed_out", nil) }
      let address = url.appendingPathComponent("api/entitlement")
      let request = URLRequest(url: address, timeoutInterval: 10)
      let (status, answer, retryAfter): (Int, Entitlement?, TimeInterval) = await fetch(request) {
        try await authorize(token, method: "GET", url: address, nonce: $0)
      }
      if status == 200, answer?.ok == true, let given = answer?.recheckAfterSeconds, given > 0 {
        let recheck = min(given, maxSeconds)
        why = answer?.status ?? "licensed"
        keepContents(answer)
        faults = 0
        yesUntil = now.advanced(by: .seconds(recheck))
        return max(1, recheck * Double.random(in: 0.9...1))  // a little early, never late
      }
      guard let code = answer?.error?.code, !code.isEmpty else {
        return hold("unreachable", retryAfter, now)  // not the service's answer
      }
      if status == 401 {
        deadToken = token  // it never works again, perhaps before it expires: one attempt to renew it
        if attempt == 2 { return stop(code, nil) }
        attempt = 2
        continue
      }
      if status == 403 || code == "not_configured" { return stop(code, 600 * Double.random(in: 1...1.1)) }
      return hold(code, retryAfter, now)
    }
  }

  private func keepContents(_ answer: Entitlement?) {
    plan = answer?.plan?.value ?? ""
    features = Set((answer?.features?.value ?? []).compactMap(\.value))
    var given = answer?.limits?.value ?? [:]
    if given["assistants"] == nil { given["assistants"] = answer?.assistantLimit }
    limits = given.filter { !$0.value.isNull }.mapValues { Int(exactly: ($0.value ?? 0).rounded(.down)) ?? .max }
  }

  /// 429, 502, 503, no network or no JSON are not refusals: the last yes stays valid until it expires.
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
}

// --- The key ---

/// A key of P-256: its public half, uncompressed, and what signs with the other, in the form that JWTs have.
struct ProofKey: Sendable {
  let publicKey: Data
  let sign: @Sendable (Data) throws -> Data
}

/// The tokens that are bound to a key, with it, and the last nonce of a service whose clock differs.
private actor BoundTokens {
  private(set) var nonce = ""
  private var keys: [String: ProofKey] = [:]
  func key(of token: String) -> ProofKey? { keys[token] }
  func keep(nonce: String) { self.nonce = nonce }
  func replace(_ former: String, by token: String, key: ProofKey?) {
    keys[former] = nil
    keys[token] = key
  }
}

private let bound = BoundTokens()

/// The headers of a request with a session token, also of one to your own server. A token that is bound to this app's key
/// needs a proof for each (DPoP, RFC 9449); so a copy of it is worth nothing elsewhere.
func authorize(_ token: String, method: String, url: URL, nonce: String = "") async throws -> [String: String] {
  guard let key = await bound.key(of: token) else { return ["Authorization": "Bearer \(token)"] }
  return ["Authorization": "DPoP \(token)", "DPoP": try prove(key, method, url, nonce, token)]
}

private func prove(_ key: ProofKey, _ method: String, _ url: URL, _ nonce: String, _ token: String = "") throws -> String {
  let coordinates = key.publicKey.suffix(64)
  let jwk = ["kty": "EC", "crv": "P-256", "x": base64URL(coordinates.prefix(32)), "y": base64URL(coordinates.suffix(32))]
  var address = URLComponents(url: url, resolvingAgainstBaseURL: false)
  address?.query = nil
  address?.fragment = nil
  var claims: [String: Any] = [
    "jti": UUID().uuidString, "htm": method, "htu": address?.string ?? "", "iat": Int(Date().timeIntervalSince1970),
  ]
  #if canImport(CryptoKit)
  if !token.isEmpty { claims["ath"] = base64URL(Data(SHA256.hash(data: Data(token.utf8)))) }
  #endif
  if !nonce.isEmpty { claims["nonce"] = nonce }
  let header: [String: Any] = ["typ": "dpop+jwt", "alg": "ES256", "jwk": jwk]
  let parts = try [header, claims].map { base64URL(try JSONSerialization.data(withJSONObject: $0)) }
  let signed = parts.joined(separator: ".")
  return signed + "." + base64URL(try key.sign(Data(signed.utf8)))
}

private func base64URL(_ data: Data) -> String {
  data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
    .replacingOccurrences(of: "=", with: "")
}

// --- The connection ---

/// Stores one refresh token; read returns "" if there is none. Tokens are bound to the key, if there is one; else anyone can
/// use a copy of them.
protocol Vault: Sendable {
  func read() throws -> String
  func write(_ refreshToken: String) throws
  func openKey() throws -> ProofKey?
}

extension Vault {
  func openKey() throws -> ProofKey? { nil }
}

/// Keeps and renews the session token of an app that its owner has approved.
actor Connection {
  private var token = ""
  private var renewAt = ContinuousClock.now  // a minute before the token expires
  private var renewal: Task<String, any Error>?
  private let url: URL
  private let clientId: String
  private let vault: any Vault

  init(url: URL, clientId: String, vault: any Vault) {
    self.url = url
    self.clientId = clientId
    self.vault = vault
  }

  /// Returns the session token, or "" if the owner has to approve first. Throws during an outage: try again later.
  func readToken(deadToken: String = "", now: ContinuousClock.Instant = .now) async throws -> String {
    if let renewal { return try await renewal.value }  // one at a time, so that the newest refresh token is kept
    if token != deadToken && now < renewAt { return token }
    let refreshToken = try vault.read()
    if refreshToken.isEmpty { return "" }
    let renewal = Task {
      try await fetchToken(["grant_type": "refresh_token", "refresh_token": refreshToken], now)
    }
    self.renewal = renewal
    defer { self.renewal = nil }
    return try await renewal.value
  }

  private func fetchToken(_ fields: [String: String], _ now: ContinuousClock.Instant) async throws -> String {
    let address = url.appendingPathComponent("oauth/token")
    let key = try vault.openKey()
    var request = URLRequest(url: address, timeoutInterval: 10)
    request.httpMethod = "POST"
    request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
    request.httpBody = Data(encode(fields.merging(["client_id": clientId]) { $1 }).utf8)
    let (status, answer, _): (Int, Tokens?, TimeInterval) = await fetch(request) { nonce in
      guard let key else { return [:] }
      return ["DPoP": try prove(key, "POST", address, nonce)]
    }
    if status == 400, answer?.error == "invalid_grant" {
      try vault.write("")  // ended by the owner or the operator, or because it was not used
      token = ""
      renewAt = now
      return ""
    }
    guard status == 200, let accessToken = answer?.access_token, !accessToken.isEmpty,
      let refreshToken = answer?.refresh_token, !refreshToken.isEmpty
    else { throw URLError(.badServerResponse) }
    try vault.write(refreshToken)
    // A service before this version binds to no key.
    await bound.replace(token, by: accessToken, key: answer?.token_type?.lowercased() == "dpop" ? key : nil)
    token = accessToken
    renewAt = now.advanced(by: .seconds(min(answer?.expires_in ?? 0, 3600) - 60))
    return token
  }

  private func encode(_ fields: [String: String]) -> String {
    let unreserved = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
    return fields.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")" }
      .joined(separator: "&")
  }

  // --- Approval ---

  #if canImport(AuthenticationServices)
  /// Asks for approval: openBrowser opens a URL, and returns the one that redirectUri receives. Throws if the owner
  /// declines. Returns the session token.
  func connect(redirectUri: String, openBrowser: @Sendable (URL) async throws -> URL) async throws -> String {
    let verifier = randomText()
    let state = randomText()
    let challenge = base64URL(Data(SHA256.hash(data: Data(verifier.utf8))))
    let query = encode([
      "client_id": clientId, "response_type": "code", "scope": "account:read", "redirect_uri": redirectUri,
      "state": state, "code_challenge": challenge, "code_challenge_method": "S256",
    ])
    let address = url.appendingPathComponent("oauth/authorize").absoluteString + "?" + query
    guard let page = URL(string: address) else { throw URLError(.badURL) }
    let back = try await openBrowser(page)
    let items = URLComponents(url: back, resolvingAgainstBaseURL: false)?.queryItems ?? []
    let answer = Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
    // Any app can open our scheme: accept only an answer to this request from this service (RFC 9207).
    guard answer["state"] == state, answer["iss"] == url.absoluteString, let code = answer["code"] else {
      throw URLError(.userAuthenticationRequired)
    }
    return try await fetchToken(
      ["grant_type": "authorization_code", "code": code, "redirect_uri": redirectUri, "code_verifier": verifier], .now)
  }

  private func randomText() -> String {
    base64URL(Data((0..<32).map { _ in UInt8.random(in: .min ... .max) }))
  }
  #endif
}

#if canImport(AuthenticationServices)
/// The system's browser, in a sheet over a window of the app. Not a web view: the owner sees which site asks.
final class ApprovalSheet: NSObject, ASWebAuthenticationPresentationContextProviding {
  private let window: ASPresentationAnchor
  private var session: ASWebAuthenticationSession?

  init(over window: ASPresentationAnchor) { self.window = window }

  func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { window }

  /// Opens a URL, and returns the one that the app's own scheme receives. Throws if the owner closes the sheet.
  @MainActor
  func open(_ page: URL, scheme: String) async throws -> URL {
    try await withCheckedThrowingContinuation { continuation in
      let session = ASWebAuthenticationSession(url: page, callbackURLScheme: scheme) { back, failure in
        if let back {
          continuation.resume(returning: back)
        } else {
          continuation.resume(throwing: failure ?? URLError(.cancelled))
        }
      }
      session.presentationContextProvider = self
      self.session = session
      session.start()
    }
  }
}

/// The system's keychain, on this device only, readable after its first unlock. The app's key is in the Secure Enclave, which
/// it never leaves, where there is one: then the keychain has what opens it on this device alone.
struct KeychainVault: Vault {
  func read() throws -> String { String(decoding: try find("refresh-token") ?? Data(), as: UTF8.self) }

  func write(_ refreshToken: String) throws { try store("refresh-token", Data(refreshToken.utf8)) }

  func openKey() throws -> ProofKey? {
    if SecureEnclave.isAvailable {
      let known = try find("enclave-key").map { try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: $0) }
      let key = try known ?? SecureEnclave.P256.Signing.PrivateKey()
      if known == nil { try store("enclave-key", key.dataRepresentation) }
      return ProofKey(publicKey: key.publicKey.x963Representation) { try key.signature(for: $0).rawRepresentation }
    }
    let known = try find("key").map { try P256.Signing.PrivateKey(rawRepresentation: $0) }
    let key = known ?? P256.Signing.PrivateKey()
    if known == nil { try store("key", key.rawRepresentation) }
    return ProofKey(publicKey: key.publicKey.x963Representation) { try key.signature(for: $0).rawRepresentation }
  }

  private func item(_ account: String) -> [CFString: Any] {
    [kSecClass: kSecClassGenericPassword, kSecAttrService: "corner-office", kSecAttrAccount: account]
  }

  private func find(_ account: String) throws -> Data? {
    var found: CFTypeRef?
    let query = item(account).merging([kSecReturnData: true]) { $1 }
    let status = SecItemCopyMatching(query as CFDictionary, &found)
    if status == errSecItemNotFound { return nil }
    try check(status)
    return found as? Data
  }

  private func store(_ account: String, _ data: Data) throws {
    let value: [CFString: Any] = [
      kSecValueData: data,
      kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
    ]
    let status = SecItemUpdate(item(account) as CFDictionary, value as CFDictionary)
    let isNew = status == errSecItemNotFound
    try check(isNew ? SecItemAdd(item(account).merging(value) { $1 } as CFDictionary, nil) : status)
  }

  private func check(_ status: OSStatus) throws {
    if status != errSecSuccess { throw NSError(domain: NSOSStatusErrorDomain, code: Int(status)) }
  }
}
#endif
