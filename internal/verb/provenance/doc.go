// Package provenance labels each written text with its origin. For example, a label says that the
// text repeats foreign text, looks like instructions or contains personal data.
package provenance
