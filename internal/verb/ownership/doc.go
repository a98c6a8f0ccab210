// Package ownership decides which of the homes inside projects belong to the user.
package ownership
