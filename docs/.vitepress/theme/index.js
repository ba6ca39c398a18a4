// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

import DefaultTheme from 'vitepress/theme';
import './site.css';

export default DefaultTheme;
