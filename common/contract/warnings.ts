// What a caller should know about a PDF that was made nevertheless. The words of `X-Warnings`.

export const RENDER_WARNINGS = ['header_overflow', 'footer_overflow'] as const;
export type RenderWarning = (typeof RENDER_WARNINGS)[number];

export const WARNING_TEXTS: Record<RenderWarning, string> = {
  header_overflow:
    'The header is taller than its height, so a part of it is cut off. Set a larger `header.height` or top margin.',
  footer_overflow:
    'The footer is taller than its height, so a part of it is cut off. Set a larger `footer.height` or bottom margin.',
};
