// Package provenance examines texts before they are stored, and adds labels for their origin and content. For example,
// a label says that a text repeats foreign text, looks like instructions, or contains personal data.
package provenance
