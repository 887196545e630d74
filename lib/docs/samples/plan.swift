func offer(_ gate: CompanyGate, projects: [String]) async {
  if await gate.has("voice") { print("show the button for voice") }
  if await projects.count < gate.limit("projects") { print("one more project is possible") }
}
