// Adds the watermark to a finished PDF, over the content of every page. Runs in a thread of
// watermark-pool.ts. The whole file is written again: a watermark that was only appended could be
// removed by cutting the end off.
import { PDFDocument, PDFName, type PDFRef } from 'pdf-lib';
import { move } from 'piscina';
import { watermarkDrawing } from './drawing.ts';

const OPACITY = 0.35;

/**
 * What a reader for the blind leaves out, and what a text search does not meet (ISO 32000-1,
 * 14.8.2.2).
 */
const AS_ARTIFACT = '/Artifact <</Type /Pagination /Subtype /Watermark>> BDC';

/** Throws when the bytes are not a whole PDF. */
export async function addWatermark(pdf: Uint8Array): Promise<Uint8Array> {
  const document = await PDFDocument.load(pdf, {
    updateMetadata: false,
    throwOnInvalidObject: true,
    parseSpeed: Number.POSITIVE_INFINITY,
  });
  const { context } = document;
  const stream = (operators: string) => context.register(context.flateStream(operators));
  const drawings = new Map<string, { name: PDFName; drawing: PDFRef; paint: PDFRef }>();

  /** One drawing for all pages of a size. */
  function drawingFor(width: number, height: number) {
    const size = `${width}x${height}`;
    let known = drawings.get(size);
    if (!known) {
      const name = PDFName.of(`PressroomSandbox${drawings.size}`);
      const translucent = context.obj({ ExtGState: { T: { CA: OPACITY, BM: 'Normal' } } });
      const form = {
        Type: 'XObject',
        Subtype: 'Form',
        BBox: [0, 0, width, height],
        Resources: translucent,
      };
      const drawing = context.register(
        context.flateStream(`/T gs\n${watermarkDrawing(width, height)}`, form),
      );
      known = { name, drawing, paint: stream(`${AS_ARTIFACT} q ${name} Do Q EMC`) };
      drawings.set(size, known);
    }
    return known;
  }

  for (const page of document.getPages()) {
    // The library puts what the page has between q and Q: it cannot move or clip what comes after.
    const { name, drawing, paint } = drawingFor(page.getWidth(), page.getHeight());
    page.node.setXObject(name, drawing);
    page.node.addContentStream(paint);
  }
  return document.save({
    useObjectStreams: false,
    addDefaultPage: false,
    updateFieldAppearances: false,
    objectsPerTick: Number.POSITIVE_INFINITY,
  });
}

/**
 * For the pool: the result is moved out of the thread, not copied. A default export would let Node
 * abort the whole process when a thread ends while it loads this module: require() wraps a module
 * that has one, and expects the wrapper to run.
 */
export const addWatermarkInThread = async (pdf: Uint8Array) => move(await addWatermark(pdf));
