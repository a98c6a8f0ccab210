// Package labels implements the verbs that list, change, check and suggest labels, and the verbs that list and approve
// entries that are held back from models.
package labels
