// Package annotations implements the verbs for annotations of code. Models, people and hooks annotate
// lines and ask for the annotations of lines. People and hooks also show blame and the annotations
// that a change touches, import and export transcripts and other formats, and maintain sidecars (the
// files with the annotations).
package annotations
