fun offer(gate: CompanyGate, projects: List<String>) {
    if (gate.has("voice")) println("show the button for voice")
    if (projects.size < gate.limit("projects")) println("one more project is possible")
}
