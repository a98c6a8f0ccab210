// Package annotations implements the verbs for annotations that people and hooks call: blame, the
// annotations that a change touches, import and export of transcripts and other formats, and the
// maintenance of sidecars. The verbs that models call are in package verb.
package annotations
