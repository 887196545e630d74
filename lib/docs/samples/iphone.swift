import AuthenticationServices

/// Make one when your app starts.
@MainActor
final class Office {
  private let connection: Connection
  private let gate: CompanyGate

  init() {
    let url = URL(string: "https://office.example.com")!
    let connection = Connection(url: url, clientId: "studio", vault: KeychainVault())
    let gate = CompanyGate(url: url) { try await connection.readToken(deadToken: $0) }
    self.connection = connection
    self.gate = gate
    Task { await gate.keepAsking { mayRun, why in print(mayRun ? "run" : "wait", why) } }
  }

  /// When the person presses "Sign in".
  func signIn(over window: ASPresentationAnchor) async throws {
    let sheet = ApprovalSheet(over: window)
    _ = try await connection.connect(redirectUri: "com.example.studio:/signed-in") {
      try await sheet.open($0, scheme: "com.example.studio")
    }
    await gate.wake()
  }
}
