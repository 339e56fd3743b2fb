"""What a lesson gives a method in place of a job; all else about lessons is in `keepsense.lessons`."""
