// Package quality measures how well recall ranks, using public sets of questions with known
// answers.
//
// A set is read from the files that its authors publish and divided into cases. A case is a
// memory with an entry for each session, turn or abstract, and questions with the right
// entries for each. Each case is written to a new [github.com/oxbow-memory/oxbow.Memory] and
// asked through Recall with every ranking of the library. The measures are whether a right
// entry is among the first (recall), and how near to the top the right entries are (nDCG,
// MRR). Nothing is tuned to a set, and names reveal nothing about the text of an entry.
//
// In addition, the vectors of an embedding endpoint can be measured on the same cases, both
// without and with fusion with the default ranking. Only this part uses a network, and only
// on request.
package quality
