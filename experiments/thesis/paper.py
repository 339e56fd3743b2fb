"""Figures printed in Rodríguez-García 2017, Tables 7.2 to 7.13, by metric and parameter."""

from __future__ import annotations

SWAPPING: dict[str, dict[str, dict[str, tuple[float, ...]]]] = {
    "moderate, two taxonomies": {
        "SRS-1": {
            "RMSE a": (0.4558, 0.5423, 0.5560, 0.5823, 0.6018, 0.6083),
            "RMSE b": (0.3562, 0.3712, 0.4118, 0.4166, 0.4650, 0.5016),
            "sdCor": (0.2705, 0.2689, 0.2649, 0.2647, 0.2628, 0.2520),
        },
        "SRS-2": {
            "RMSE a": (0.1439, 0.1887, 0.2300, 0.2782, 0.3513, 0.4062),
            "RMSE b": (0.0544, 0.0776, 0.1014, 0.1413, 0.2153, 0.2941),
            "sdCor": (0.4191, 0.4092, 0.4039, 0.3648, 0.3235, 0.2800),
        },
        "SRS-3": {
            "RMSE a": (0.1966, 0.2707, 0.3130, 0.3659, 0.4145, 0.4656),
            "RMSE b": (0.0920, 0.1433, 0.1613, 0.2083, 0.2697, 0.3745),
            "sdCor": (0.4567, 0.4410, 0.4363, 0.4160, 0.3826, 0.3145),
        },
    },
    "strong, few values": {
        "SRS-3": {
            "RMSE a": (0.0, 0.0129, 0.0336, 0.0749, 0.1965, 0.3750),
            "RMSE b": (0.0, 0.0288, 0.0810, 0.1486, 0.2300, 0.3218),
            "sdCor": (0.6392, 0.6383, 0.6371, 0.6238, 0.5765, 0.4658),
        },
    },
}
NOISE: dict[str, dict[str, dict[str, tuple[float, ...]]]] = {
    "strong, one taxonomy": {
        "uncorrelated SNA-1": {
            "RMSE a": (0.23, 0.31, 0.38, 0.49),
            "RMSE b": (0.19, 0.30, 0.37, 0.50),
            "sdCor": (0.78, 0.65, 0.57, 0.38),
            "mean moved a": (0.20, 0.20, 0.20, 0.20),
            "sVar off a": (0.0, 0.05, 0.08, 0.17),
        },
        "correlated SNA-1": {
            "RMSE a": (0.24, 0.33, 0.40, 0.51),
            "RMSE b": (0.20, 0.30, 0.38, 0.49),
            "sdCor": (0.82, 0.73, 0.69, 0.59),
            "mean moved a": (0.20, 0.20, 0.20, 0.20),
            "sVar off a": (0.0, 0.05, 0.07, 0.15),
        },
        "correlated SNA-2": {
            "RMSE a": (0.25, 0.35, 0.41, 0.52),
            "RMSE b": (0.22, 0.32, 0.40, 0.51),
            "sdCor": (0.84, 0.76, 0.71, 0.59),
            "mean moved a": (0.20, 0.20, 0.20, 0.20),
            "sVar off a": (0.0, 0.03, 0.05, 0.12),
        },
    },
    "strong, two taxonomies": {
        "correlated SNA-1": {
            "RMSE a": (0.23, 0.32, 0.40, 0.50),
            "RMSE b": (0.15, 0.24, 0.30, 0.41),
            "sdCor": (0.68, 0.56, 0.48, 0.42),
            "mean moved a": (0.33, 0.0, 0.0, 0.0),
            "sVar off a": (0.02, 0.01, 0.03, 0.07),
        },
        "correlated SNA-3": {
            "RMSE a": (0.27, 0.34, 0.41, 0.51),
            "RMSE b": (0.16, 0.25, 0.30, 0.41),
            "sdCor": (0.70, 0.60, 0.54, 0.47),
            "mean moved a": (0.23, 0.23, 0.23, 0.23),
            "sVar off a": (0.04, 0.03, 0.01, 0.04),
        },
    },
}
FEATURES = {
    "moderate, two taxonomies": "1,172 rows, 783 and 430 values, sdCor 0.4595 (Table 7.1)",
    "strong, few values": "1,012 rows, 55 and 94 values, sdCor 0.6392 (Sec. 7.4)",
    "strong, one taxonomy": "1,350 rows, 17 and 19 values, sdCor 0.94 (Table 7.6)",
    "strong, two taxonomies": "1,316 rows, sdCor 0.88 (Table 7.11)",
}
