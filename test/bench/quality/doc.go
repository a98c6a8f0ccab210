// Package quality measures how well recall ranks, on public sets of questions
// whose answers are known.
//
// A set is read from the files that its authors publish. It gives cases: a
// memory to make, an entry for each session, turn or abstract, and what is asked
// of it, with the entries that are right. Each case is put into a fresh
// [github.com/oxbow-memory/oxbow.Memory], asked through Recall by every ranking
// of the library, and what came is measured: whether a right entry is among the
// first (recall), how near to the top the right ones are (nDCG, MRR). Nothing is
// tuned to a set, and names say nothing of what an entry holds.
//
// Beside the library's rankings, vectors of an embedding endpoint can be
// measured on the same cases, alone and fused with the default ranking. That is
// the only part that uses a network, and only when it is asked for.
package quality
