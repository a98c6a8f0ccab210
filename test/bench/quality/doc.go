// Package quality measures how well Recall (the search of oxbow) ranks entries. It uses public sets of questions with
// known answers.
//
// A set is read from the files that its authors publish and divided into cases. A case is a memory with an entry for
// each session, turn or abstract, and questions with the right entries for each. Each case is written to a new
// [github.com/oxbow-memory/oxbow.Memory] and asked through Recall with every ranking of the library. The first measure
// is whether a right entry is among the first hits. This measure is called recall, like the usual measure of search
// quality. Two further measures, nDCG and MRR, tell how near to the top the right entries are. Nothing is tuned to a
// set, and names reveal nothing about the text of an entry.
//
// In addition, the vectors of an embedding endpoint can be measured on the same cases, both without and with fusion
// with the default ranking. Only this part uses a network, and only on request.
package quality
