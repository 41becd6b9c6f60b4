/** An attempt to reach a server. */
record ConnectTry(String server, int attempt) {
}
