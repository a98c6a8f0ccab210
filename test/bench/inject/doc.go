// Package inject measures what is put before a model with a prompt: whether the
// right memory is shown where there is one, and nothing where there is none.
//
// A [Store] is a memory as a user has it, read from a public set of questions or
// made by [Generate], and what is asked of it. Each question, and much else, is put
// to each rule of [Rules]: those that other systems use, and
// [github.com/oxbow-memory/oxbow/internal/agent/inject.ForPrompt], calibrated by the decoys of
// package gate. No model takes part, and nothing is tuned to a set.
package inject
