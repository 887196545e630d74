/**
 * What the Swift client takes from Apple's CryptoKit, where that is missing: the module, which is empty, so that its parts are
 * compiled, and the parts that sign, by `openssl`. Keychain and Secure Enclave have no stand-in.
 */
export const appleStubs = {
  "crypto-kit.swift": "",
  "apple.swift": `import Foundation
enum SHA256 {
  static func hash(data: Data) -> Data { openssl(["dgst", "-sha256", "-binary"], data) }
}
func makeKey() -> ProofKey {
  let key = openssl(["ecparam", "-name", "prime256v1", "-genkey", "-noout"], Data())
  let publicKey = openssl(["ec", "-pubout", "-outform", "DER"], key)
  return ProofKey(publicKey: publicKey) { signed in
    let file = "key-\\(UUID().uuidString)"
    try key.write(to: URL(fileURLWithPath: file))
    defer { try? FileManager.default.removeItem(atPath: file) }
    let der = openssl(["dgst", "-sha256", "-sign", file], signed)
    let first = 4 + Int(der[3])
    return number(der[4..<first]) + number(der[(first + 2)...])
  }
}
/// An integer of DER, as the 32 bytes that JWTs have.
func number(_ bytes: Data) -> Data {
  let last = bytes.suffix(32)
  return Data(repeating: 0, count: 32 - last.count) + last
}
func openssl(_ arguments: [String], _ input: Data) -> Data {
  let program = Process()
  program.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
  program.arguments = arguments
  let (given, told) = (Pipe(), Pipe())
  program.standardInput = given
  program.standardOutput = told
  program.standardError = FileHandle.nullDevice
  try! program.run()
  given.fileHandleForWriting.write(input)
  try! given.fileHandleForWriting.close()
  return told.fileHandleForReading.readDataToEndOfFile()
}`,
};
