// Package provenance labels each written text with its origin: the text repeats foreign text, looks
// like instructions, contains personal data, or was made from texts that the session was shown.
package provenance
