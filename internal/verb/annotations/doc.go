// Package annotations implements the verbs for annotations that people and hooks call. They show
// blame and the annotations that a change touches, import and export transcripts and other
// formats, and maintain sidecars (the files with the annotations). The verbs that models call are
// in package verb.
package annotations
