// Package annotations has the verbs on annotations that people and hooks call: blame,
// what a change touches, what transcripts and other formats bring, and the care of
// sidecars. What models call is in package verb.
package annotations
