// Package provenance labels each written text with where it comes from: whether it repeats foreign
// text, looks like instructions, holds personal data, or was made from texts that the session was
// shown.
package provenance
