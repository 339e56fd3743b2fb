"""How far apart things are: distances, and the operators built on them: mean, variance, dependence, order."""
